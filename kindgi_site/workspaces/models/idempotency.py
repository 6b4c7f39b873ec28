"""What was answered to a request that carried an Idempotency-Key, or that it is being worked on."""

from django.db import models

from kindgi_site import clock


class IdempotencyRecord(models.Model):
    """One key in its scope (contract, section 6). `status` null means held by `holder`, still at work."""

    scope = models.CharField(primary_key=True, max_length=64)
    workspace = models.ForeignKey("workspaces.Workspace", models.CASCADE, related_name="+")
    fingerprint = models.CharField(max_length=64)
    holder = models.UUIDField()
    status = models.PositiveSmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, blank=True)
    body = models.BinaryField(null=True)
    withheld = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.scope[:8]}: {self.status or 'held'}"
