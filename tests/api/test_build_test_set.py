"""`POST /v1/test-sets/{id}/versions/from-corrections` (contract 14.3)."""

from datetime import timedelta

import pytest

from corrections.models import Correction, CorrectorGroup
from corrections.vocabulary import ScopeKind, Status, SubjectKind, Verdict
from kindgi_site import clock
from kindgi_site.exact_json import JsonText
from tests.api.expect import assert_refused, nothing_stored
from tests.api.set_bodies import PATH, publish, set_body, unregister
from tests.at_once import at_once
from tests.factories import CorrectionFactory, CorrectorGroupFactory, ProjectFactory, RunCopyFactory, crowd
from tests.life import LONG_AGO
from tests.loop import Loop
from tests.seed_schema import faults, needs_seed_schema
from tests.wire import WireClient
from testsets.models import TestCase, TestSetVersion

BUILD = f"{PATH}/built/versions/from-corrections"
VERSION = f"{PATH}/built/versions/1.0.0"
SEGMENTS = [{"key": "country", "value": "NL"}, {"key": "city", "value": "Delft"}]


def body_of(loop, **more):
    said = {"projectId": str(loop.project.id), "version": "1.0.0", "agentId": "support"} | more
    return {name: value for name, value in said.items() if value is not None}


def build(loop, **more):
    return loop.ask("POST", BUILD, body_of(loop, **more), status=201)


def cases(loop, version=VERSION):
    return loop.ask("GET", f"{version}/cases?limit=100")["data"]


def run_ids(loop, **more):
    """Of the cases of a set built with these filters; the answer's count is theirs."""
    answer = build(loop, **more)
    found = [case["runId"] for case in cases(loop)]
    assert answer == {
        "testSetId": "built",
        "version": "1.0.0",
        "kind": "corrections",
        "caseCount": len(found),
        "truncated": False,
    }
    return found


@pytest.fixture
def copy(project):
    """Run copies of the project, each captured a minute after the one before."""
    made = []

    def one(**more):
        at = LONG_AGO + timedelta(minutes=len(made))
        made.append(RunCopyFactory(**{"project": project, "captured_at": at} | more))
        return made[-1]

    return one


@pytest.fixture
def corrected(copy):
    """A copy with one live correction; its run's id."""

    def one(said=None, **more):
        found = copy(**more)
        CorrectionFactory(copy=found, **said or {})
        return str(found.run_id)

    return one


def test_a_whole_case_with_everything_added_up(loop, copy):
    """The example of contract 13.2: an expert's yes weighs 3, a user's no a half, an unclassified yes 1."""
    experts = CorrectorGroupFactory(workspace=loop.project.workspace, weight=3, min_reviewer_role="senior")
    users = CorrectorGroupFactory(workspace=loop.project.workspace, weight=0.5)
    run_copy = copy(segments=JsonText.of(SEGMENTS), context=JsonText('{"retrieved":1.0}'))

    def said(minutes, **more):
        at = LONG_AGO + timedelta(minutes=minutes)
        return CorrectionFactory(**{"copy": run_copy, "created_at": at, "answer": "", "why": ""} | more)

    item = {"key": "faq-1", "pointer": "/sources/0", "rank": 0}
    plain = said(1, items=JsonText.of([item | {"verdict": "right"}]))
    user = said(2, items=JsonText.of([item | {"verdict": "wrong"}]), group=users, why="Old.")
    should = JsonText('[{"tool":"find_order","args":{"order":7.0}}]')
    expert = said(
        3,
        items=JsonText.of([item | {"verdict": "right"}]),
        decisions=Verdict.WRONG,
        should_call=should,
        must_not_call=JsonText.of(["cancel"]),
        answer=Verdict.WRONG,
        should_say="On Tuesday.",
        group=experts,
        expert=True,
    )
    said(4, status=Status.REMOVED, unregistered_at=LONG_AGO, items=JsonText.of([item | {"verdict": "wrong"}]))

    assert run_ids(loop) == [str(run_copy.run_id)]

    (case,) = cases(loop)
    assert case == {
        "caseId": str(run_copy.run_id),
        "runId": str(run_copy.run_id),
        "subject": {"kind": "agent", "id": "support", "version": "1.2.0"},
        "input": run_copy.input.value,
        "context": {"retrieved": 1.0},
        "output": run_copy.output.value,
        "segments": SEGMENTS,
        "items": [
            {
                "key": "faq-1",
                "pointer": "/sources/0",
                "rank": 0,
                "yes": 2,
                "no": 1,
                "yesWeight": 4,
                "totalWeight": 4.5,
                "expert": {"yesWeight": 3, "totalWeight": 3, "correctionIds": [str(expert.id)]},
                "correctionIds": [str(expert.id), str(user.id), str(plain.id)],
                "reasons": [{"verdict": "no", "reason": "Old.", "correctorGroupId": str(users.id)}],
            },
            {
                "key": "answer",
                "pointer": "",
                "yes": 0,
                "no": 1,
                "yesWeight": 0,
                "totalWeight": 3,
                "expert": {"yesWeight": 0, "totalWeight": 3, "correctionIds": [str(expert.id)]},
                "correctionIds": [str(expert.id)],
                "reasons": [
                    {
                        "verdict": "no",
                        "reason": "On Tuesday.",
                        "correctorGroupId": str(experts.id),
                        "expert": True,
                    }
                ],
            },
        ],
        "corrections": [
            {
                "correctionId": str(expert.id),
                "correctorGroupId": str(experts.id),
                "expert": True,
                "calls": [{"tool": "find_order", "args": {"order": 7.0}}],
                "notCalled": ["cancel"],
            }
        ],
    }
    text = loop.client.get(f"{VERSION}/cases").content.decode()
    assert '"context":{"retrieved":1.0}' in text, "content is the text that was sent"
    assert '"args":{"order":7.0}' in text
    assert '"yesWeight":4,"totalWeight":4.5,' in text, "a whole weight has no point"


def test_the_version_says_how_it_was_built(loop, corrected):
    corrected()
    filters = {"minCorrections": 1, "segments": [], "since": "2026-01-01 00:00:00+01", "agentVersion": "1.2.0"}

    build(loop, description="All of it.", **filters)

    version = TestSetVersion.objects.get()
    assert loop.ask("GET", VERSION) == {
        "id": "built",
        "tenantId": str(loop.project.workspace_id),
        "projectId": str(loop.project.id),
        "version": "1.0.0",
        "kind": "corrections",
        "description": "All of it.",
        "spec": {
            "source": "corrections",
            "projectId": str(loop.project.id),
            "query": {"agentId": "support"} | filters,
            "caseCount": 1,
            "truncated": False,
            "builtAt": version.spec.value["builtAt"],
        },
    }
    assert abs(version.created_at - clock.now()) < timedelta(minutes=5)


def test_newest_captured_first_then_by_run_id(loop, corrected):
    older, newer = corrected(), corrected()
    same = [corrected(captured_at=LONG_AGO - timedelta(days=1)) for _one in range(4)]

    assert run_ids(loop) == [newer, older, *sorted(same, reverse=True)]


def test_what_is_no_case(loop, corrected, copy):
    """Replays, erased copies, other subjects and projects, and runs of which nothing live is said."""
    wanted = corrected()
    corrected(is_replay=True)
    corrected(erased_at=LONG_AGO)
    corrected(subject_id="billing")
    corrected(subject_kind=SubjectKind.FLOW)
    corrected(project=ProjectFactory(workspace=loop.project.workspace))
    corrected(project=ProjectFactory())
    corrected({"status": Status.REMOVED, "unregistered_at": LONG_AGO})
    copy()

    assert run_ids(loop) == [wanted]


@pytest.mark.parametrize("replay", [{"replayOf": "run-1"}, {"output": {"replay": {"of": "run-1"}}}])
def test_a_replay_that_was_handed_in_is_no_case(loop, replay):
    wanted = loop.run()
    loop.correct(wanted)
    loop.correct(loop.run(**replay))

    assert run_ids(loop) == [wanted]


def test_an_erased_run_is_skipped(loop, root_client):
    wanted, erased = loop.run(), loop.run()
    loop.correct(wanted)
    loop.correct(erased)
    loop.erase(erased, root_client)

    assert run_ids(loop) == [wanted]


def test_an_end_users_unsorted_correction_and_a_wont_fix_count(loop, corrected):
    user = corrected({"participant_id": "customer-1"})
    wont_fix = corrected({"status": Status.WONT_FIX})

    assert run_ids(loop) == [wont_fix, user]


def test_a_flow(loop, corrected):
    wanted = corrected(subject_kind=SubjectKind.FLOW, subject_id="ranking")
    corrected(subject_id="ranking")

    assert run_ids(loop, agentId=None, flowId="ranking") == [wanted]
    (case,) = cases(loop)
    assert case["subject"] == {"kind": "flow", "id": "ranking", "version": "1.2.0"}
    assert [(item["key"], item["pointer"]) for item in case["items"]] == [("output", "")]


def test_agent_version(loop, corrected):
    wanted = corrected(subject_version="2.0.0")
    corrected()

    assert run_ids(loop, agentVersion="2.0.0") == [wanted]


def test_since_is_inside_and_until_outside(loop, corrected):
    _before, first, second, _last = (corrected() for _one in range(4))
    since, until = (clock.wire_time(LONG_AGO + timedelta(minutes=minutes)) for minutes in (1, 3))

    assert run_ids(loop, since=since, until=until) == [second, first]


def test_since_and_until_to_the_millisecond(loop, corrected):
    at = corrected()
    moment = "2026-01-02T03:04:05.678Z"

    assert run_ids(loop, since=moment, until="2026-01-02T03:04:05.679Z") == [at]
    assert build(loop, version="1.1.0", until=moment)["caseCount"] == 0
    assert build(loop, version="1.2.0", since="2026-01-02T03:04:05.679Z")["caseCount"] == 0


def test_only_corrections_of_the_groups_count(loop, copy):
    groups = [CorrectorGroupFactory(workspace=loop.project.workspace) for _one in range(2)]
    mixed, other, unclassified = copy(), copy(), copy()
    counts = CorrectionFactory(copy=mixed, group=groups[0])
    CorrectionFactory(copy=mixed, group=groups[1])
    CorrectionFactory(copy=mixed)
    CorrectionFactory(copy=other, group=groups[1])
    CorrectionFactory(copy=unclassified)

    assert run_ids(loop, correctorGroupIds=[str(groups[0].id), "no-such-group"]) == [str(mixed.run_id)]
    (item,) = cases(loop)[0]["items"]
    assert item["correctionIds"] == [str(counts.id)]


def test_no_groups_count_nothing(loop, corrected):
    corrected()

    assert run_ids(loop, correctorGroupIds=[]) == []
    assert run_ids_of_unknown_group(loop) == []


def run_ids_of_unknown_group(loop):
    build(loop, version="1.1.0", correctorGroupIds=["unknown"])
    return cases(loop, f"{PATH}/built/versions/1.1.0")


def test_min_corrections_counts_those_that_count(loop, copy):
    group = CorrectorGroupFactory(workspace=loop.project.workspace)
    once, twice = copy(), copy()
    CorrectionFactory(copy=once, group=group)
    CorrectionFactory(copy=once)
    CorrectionFactory(copy=once, removed=True)
    CorrectionFactory(copy=twice, group=group)
    CorrectionFactory(copy=twice, group=group)

    assert run_ids(loop, minCorrections=2) == [str(twice.run_id), str(once.run_id)]
    only = {"minCorrections": 2, "correctorGroupIds": [str(group.id)]}
    assert build(loop, version="1.1.0", **only)["caseCount"] == 1
    assert build(loop, version="1.2.0", minCorrections=3)["caseCount"] == 0


def test_segments_are_the_beginning_of_the_path(loop, corrected):
    def at(*path):
        return corrected(segments=JsonText.of(list(path)))

    whole, longer = at(*SEGMENTS), at(*SEGMENTS, {"key": "street", "value": "Markt"})
    shorter = at(SEGMENTS[0])
    at(*reversed(SEGMENTS))
    at(SEGMENTS[0], {"key": "city", "value": "delft"})
    at({"key": "land", "value": "NL"}, SEGMENTS[1])
    none = corrected()

    assert run_ids(loop, segments=SEGMENTS) == [longer, whole]
    assert none not in [case["runId"] for case in cases(loop)]
    assert build(loop, version="1.1.0", segments=SEGMENTS[:1])["caseCount"] == 4
    assert build(loop, version="1.2.0", segments=[])["caseCount"] == 7
    assert shorter


def test_zero_cases_are_a_version_too(loop):
    assert run_ids(loop, agentId="nobody") == []
    assert loop.ask("GET", VERSION)["spec"]["caseCount"] == 0


def test_a_group_weighs_what_it_weighs_now_retired_or_not(loop, copy):
    group = CorrectorGroupFactory(workspace=loop.project.workspace, weight=1)
    CorrectionFactory(copy=copy(), group=group)
    CorrectorGroup.objects.update(weight=2.5, unregistered_at=LONG_AGO)

    run_ids(loop)

    assert cases(loop)[0]["items"][0]["totalWeight"] == 2.5


def test_rebuilt_a_case_has_the_same_id(loop, corrected):
    corrected()
    run_ids(loop)
    build(loop, version="1.1.0")

    assert cases(loop) == cases(loop, f"{PATH}/built/versions/1.1.0")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        pytest.param({"version": None}, "version", id="no version"),
        pytest.param({"version": "1.0"}, "version", id="two numbers"),
        pytest.param({"version": "1.0.0-rc.1"}, "version", id="a suffix"),
        pytest.param({"projectId": None}, "projectId", id="no project"),
        pytest.param({"agentId": None}, "agentId", id="neither agent nor flow"),
        pytest.param({"flowId": "ranking"}, "agentId", id="agent and flow"),
        pytest.param({"agentId": " "}, "agentId", id="agent blank"),
        pytest.param(
            {"agentId": None, "flowId": "f", "agentVersion": "1.0.0"}, "agentVersion", id="version of no agent"
        ),
        pytest.param({"since": "2026-01-01"}, "since", id="a date alone"),
        pytest.param({"until": "2026-01-01T00:00:00"}, "until", id="no zone"),
        pytest.param({"correctorGroupIds": [""]}, "correctorGroupIds", id="an empty group"),
        pytest.param({"correctorGroupIds": "x"}, "correctorGroupIds", id="groups no list"),
        pytest.param({"minCorrections": 0}, "minCorrections", id="min zero"),
        pytest.param({"minCorrections": True}, "minCorrections", id="min a flag"),
        pytest.param({"minCorrections": 1.5}, "minCorrections", id="min a fraction"),
        pytest.param({"segments": [{"key": "A", "value": "x"}]}, "segments", id="segment key"),
        pytest.param({"segments": SEGMENTS + SEGMENTS}, "segments", id="segment twice"),
        pytest.param({"description": 7}, "description", id="description no text"),
    ],
)
def test_bodies_that_are_refused(loop, corrected, wrong, field):
    corrected()
    with nothing_stored():
        assert_refused(loop.client.post(BUILD, body_of(loop, **wrong)), 400, "bad-input", field=field)


def test_an_unknown_field_and_null(loop):
    with nothing_stored():
        assert_refused(loop.client.post(BUILD, body_of(loop, limit=5)), 400, "unknown-field", fields=["limit"])
        assert_refused(loop.client.post(BUILD, body_of(loop) | {"since": None}), 400, "bad-input", field="since")


def test_an_id_that_no_set_may_have(loop):
    path = f"{PATH}/a%20b/versions/from-corrections"
    with nothing_stored():
        assert_refused(loop.client.post(path, body_of(loop)), 400, "bad-input", field="testSetId")


def test_an_editor_may_not(loop, api_client):
    reason = "You need the admin permission on this project."
    resource = {"type": "project", "id": str(loop.project.id)}
    with nothing_stored():
        response = api_client.post(BUILD, body_of(loop))

    assert_refused(response, 403, "permission-denied", action="admin", resource=resource, reason=reason)
    assert_refused(api_client.post(BUILD, body_of(loop, version="x")), 400, "bad-input", field="version")


def test_the_id_of_another_project(loop, root_client, corrected):
    corrected()
    other = Loop(root_client, ProjectFactory(workspace=loop.project.workspace))
    publish(other, "built", "0.1.0")

    with nothing_stored():
        response = root_client.post(BUILD, body_of(loop))

    assert_refused(response, 409, "test-set-project-mismatch", testSetId="built")


@pytest.mark.parametrize("first", ["built", "published", "built and unregistered"])
def test_the_same_version_again(loop, corrected, first):
    corrected()
    if first == "published":
        loop.ask("POST", PATH, set_body(loop, "built"), status=201)
    else:
        build(loop)
    if "unregistered" in first:
        unregister(loop, "built")
    before = loop.client.get(f"{VERSION}/cases").content
    corrected()

    with nothing_stored():
        response = loop.client.post(BUILD, body_of(loop))

    assert_refused(response, 409, "test-set-already-registered", testSetId="built", version="1.0.0")
    assert loop.client.get(f"{VERSION}/cases").content == before


@pytest.mark.parametrize(("count", "truncated"), [(1000, False), (1001, True)])
@pytest.mark.parametrize("segments", [[], SEGMENTS[:1]], ids=["", "by segments"])
def test_at_most_a_thousand_cases(loop, project, count, truncated, segments):
    made = crowd(project, count)
    oldest = made[0].copy
    oldest.captured_at = LONG_AGO
    oldest.save()
    type(oldest).objects.update(segments=JsonText.of(SEGMENTS))

    answer = build(loop, segments=segments)

    assert (answer["caseCount"], answer["truncated"]) == (1000, truncated)
    assert loop.ask("GET", VERSION)["spec"]["truncated"] is truncated
    ids = list(TestCase.objects.order_by("position").values_list("run_id", flat=True))
    assert len(ids) == 1000
    assert (oldest.run_id in ids) is not truncated


@pytest.mark.parametrize("hundreds", [1, 3])
def test_three_statements_for_each_hundred_cases(loop, project, hundreds, django_assert_num_queries):
    crowd(project, hundreds * 100)
    loop.client.get(PATH)

    with django_assert_num_queries(16 + 3 * hundreds):
        assert build(loop)["caseCount"] == hundreds * 100


@pytest.mark.django_db(transaction=True)
def test_two_who_build_one_version_at_once(loop, corrected):
    corrected()
    key, body = loop.client.key, body_of(loop)

    statuses = at_once([lambda: WireClient(key).post(BUILD, body).status_code for _one in range(2)])

    assert sorted(statuses) == [201, 409]
    assert (TestSetVersion.objects.count(), TestCase.objects.count()) == (1, 1)


def test_a_built_version_does_not_change(loop, corrected, project):
    """Not by superseding, removing and adding corrections, new weights, a retired group, nor the run again."""
    group = CorrectorGroupFactory(workspace=project.workspace, scope_kind=ScopeKind.TENANT, weight=2)
    run_id = loop.run()
    loop.correct(run_id, answer="wrong", why="Late.", correctorGroupId=str(group.id))
    other = corrected({"group": group})
    assert run_ids(loop) == [run_id, other]
    before = [loop.client.get(path).content for path in (VERSION, f"{VERSION}/cases")]

    loop.correct(run_id, answer="right")
    Correction.objects.filter(run_id=other).update(unregistered_at=LONG_AGO, status=Status.REMOVED)
    corrected()
    CorrectorGroup.objects.update(weight=7, unregistered_at=LONG_AGO)

    assert [loop.client.get(path).content for path in (VERSION, f"{VERSION}/cases")] == before


@needs_seed_schema
def test_pages_of_built_cases_fit_the_contracts_schema(loop, corrected):
    corrected({"decisions": Verdict.WRONG, "must_not_call": JsonText.of(["cancel"])})
    corrected({"expert": True}, segments=JsonText.of(SEGMENTS), context=JsonText.of({"history": ["Hello."]}))
    corrected(subject_id="support", input=JsonText("null"))
    build(loop)

    first = loop.ask("GET", f"{VERSION}/cases?limit=2")
    second = loop.ask("GET", f"{VERSION}/cases?limit=2&cursor={first['nextCursor']}")

    assert [len(page["data"]) for page in (first, second)] == [2, 1]
    assert [faults("TestCasePage", page) for page in (first, second)] == [[], []]
