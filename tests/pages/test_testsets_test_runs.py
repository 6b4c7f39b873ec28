"""Test runs on pages: how each case stands, why, and two runs side by side."""

import re
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from kindgi_site.callers import Role
from kindgi_site.workspaces.models import Person, Project
from tests.factories import ProjectFactory, crowd, person_with
from tests.loop import ANSWER, RIGHT_CALL, WRONG_CALL, Loop, graded_again, output
from tests.pages.conftest import HTMX, root_of, text_of
from testsets.models import TestRun

RIGHT, WRONG = [RIGHT_CALL], [WRONG_CALL]


@pytest.fixture
def admin_client(admin: Person, client: Client) -> Client:
    client.force_login(admin)
    return client


@pytest.fixture
def cases(loop: Loop) -> list[str]:
    """Four frozen cases, in order of the set."""
    made = [loop.correct() for _ in range(4)]
    loop.freeze()
    return made[::-1]


def text(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return text_of(response.content.decode())


def graded(loop: Loop, version: str, cases: list[str], *calls: object) -> str:
    return f"/test-runs/{loop.grade(version, dict(zip(cases, calls, strict=True)))['runId']}/"


def test_list_is_empty_or_says_how_much_is_right(admin_client: Client, loop: Loop, cases: list[str]):
    assert "No test run yet." in text(admin_client, "/test-runs/")
    graded(loop, "1.1.0", cases, RIGHT, RIGHT, RIGHT, WRONG)
    loop.start("1.2.0")

    page = text(admin_client, "/test-runs/")

    assert "support 1.1.0 agent · Default support.corrections 1.0.0 75 % 3 of 4 measured completed" in page
    assert "support 1.2.0 agent · Default support.corrections 1.0.0 – waiting for outputs" in page
    assert "75 %" in text(admin_client, "/test-runs/?set=support.corrections")
    assert "75 %" in text(admin_client, "/test-runs/?subject=support")
    assert "No test run of this yet." in text(admin_client, "/test-runs/?subject=nobody")


def test_the_version_before_is_found_behind_any_number_of_test_runs_of_this_one(
    admin_client: Client, loop: Loop, cases: list[str]
):
    graded(loop, "1.0.0", cases, RIGHT, RIGHT, RIGHT, RIGHT)
    path = graded(loop, "1.1.0", cases, RIGHT, RIGHT, RIGHT, WRONG)
    graded_again(path.split("/")[2], 60)

    page = text(admin_client, path)

    assert "Version 1.0.0 had 4 of 4 of the same cases right." in page
    assert "regressed" in page


def test_the_version_before_is_of_the_same_project(admin_client: Client, loop: Loop, cases: list[str]):
    elsewhere = graded(loop, "1.0.0", cases, RIGHT, RIGHT, RIGHT, RIGHT)
    path = graded(loop, "1.1.0", cases, RIGHT, RIGHT, RIGHT, WRONG)
    other = ProjectFactory(workspace=loop.project.workspace)
    TestRun.objects.filter(id=elsewhere.split("/")[2]).update(project=other)

    assert "No earlier version was graded with this set" in text(admin_client, path)


def test_an_agent_and_a_flow_of_one_name_are_told_apart(admin_client: Client, loop: Loop, cases: list[str]):
    agent = loop.start("1.1.0")
    said = {"projectId": str(loop.project.id), "flowRef": {"flowId": "support", "version": "1.1.0"}}
    flow = loop.ask("POST", "/v1/test-sets/support.corrections/runs", said, status=201)["runId"]

    page = text(admin_client, "/test-runs/")

    assert "support 1.1.0 agent · Default" in page
    assert "support 1.1.0 flow · Default" in page
    assert "support 1.1.0 agent" in text(admin_client, f"/test-runs/{agent}/")
    assert "support 1.1.0 flow" in text(admin_client, f"/test-runs/{flow}/")


def test_the_list_is_narrowed_to_a_set_an_agent_and_its_project(client: Client, loop: Loop, cases: list[str]):
    project, elsewhere = loop.project, ProjectFactory(workspace=loop.project.workspace)
    client.force_login(person_with(project, Role.ADMIN, is_admin=True))
    loop.build()
    run = TestRun.objects.get(id=loop.start("1.1.0"))
    other_set = TestRun.objects.get(id=loop.start("1.2.0", testSetId="built"))
    other_agent = TestRun.objects.get(id=loop.start("1.3.0", agentRef={"agentId": "billing", "version": "1.3.0"}))
    other_place = TestRun.objects.get(id=loop.start("1.4.0"))
    TestRun.objects.filter(id=other_place.id).update(project=elsewhere)

    def listed(query: str, **headers: str) -> set[UUID]:
        return {row.run.id for row in client.get(f"/test-runs/?{query}", headers=headers).context["rows"]}

    everything = {run.id, other_set.id, other_agent.id, other_place.id}
    assert listed("") == everything
    assert listed("set=support.corrections") == everything - {other_set.id}
    assert listed("set=support.corrections", **HTMX) == everything - {other_set.id}
    assert listed("subject=support") == everything - {other_agent.id}
    assert listed(f"project={project.id}&subject=support") == {run.id, other_set.id}
    assert listed(f"project={elsewhere.id}", **HTMX) == {other_place.id}
    assert listed("project=nowhere") == everything
    page = client.get(f"/agents/{elsewhere.id}/support/").content.decode()
    assert f'href="/test-runs/?project={elsewhere.id}&amp;subject=support"' in page


def test_each_case_against_the_previous_version(admin_client: Client, loop: Loop, cases: list[str]):
    before = graded(loop, "1.1.0", cases, RIGHT, WRONG, WRONG, RIGHT)
    now = admin_client.get(graded(loop, "1.2.0", cases, WRONG, RIGHT, WRONG, RIGHT))
    page = text_of(now.content.decode())

    stands = {row.case.case_id: row.standing.words for row in now.context["cases"]}
    assert stands == dict(zip(cases, ("regressed", "fixed", "still wrong", "still right"), strict=True))
    assert [row.standing.words for row in now.context["cases"]] == ["regressed", "fixed", "still wrong", "still right"]
    assert "50 % right: 2 of 4 cases that could be measured" in page
    assert "Version 1.1.0 had 2 of 4 of the same cases right." in page
    assert "find_order was called otherwise Argument Wanted Got order 7 8" in page
    assert "A run passes when it calls find_order with order = 7." in page
    assert before in now.content.decode()


def test_a_long_path_is_broken_after_its_slashes(admin_client: Client, loop: Loop):
    wanted = {"flights": [{"a<b/c": 1}]}
    case = loop.correct(decisions="wrong", shouldCall=[{"tool": "find_order", "args": wanted}])
    loop.freeze()
    made = [{"toolId": "find_order", "arguments": {"flights": [{"a<b/c": 2}]}}]

    page = admin_client.get(graded(loop, "1.1.0", [case], made)).content.decode()

    assert '<th scope="row">flights/<wbr>0/<wbr>a&lt;b~1c</th>' in page


def test_the_first_version_has_nothing_to_be_laid_beside(admin_client: Client, loop: Loop, cases: list[str]):
    page = text(admin_client, graded(loop, "1.1.0", cases, RIGHT, WRONG, RIGHT, RIGHT))

    assert "No earlier version was graded with this set, so every case is new." in page
    assert "new, wrong 1" in page
    assert "new, right 3" in page


def test_what_cannot_be_measured_errors_and_erased_cases(
    admin_client: Client, loop: Loop, cases: list[str], root_client
):
    run_id = loop.run(calls=[WRONG_CALL])
    erased = loop.correct(run_id)
    loop.freeze("1.1.0")
    test_run = loop.start("1.1.0")
    loop.submit(
        test_run,
        {"caseId": cases[0], "output": ANSWER},
        {"caseId": cases[1], "error": "it <b>broke</b>"},
        output(cases[2], RIGHT),
        output(erased, RIGHT),
    )
    loop.ask("POST", f"/v1/test-runs/{test_run}/complete")
    loop.erase(run_id, root_client)

    response = admin_client.get(f"/test-runs/{test_run}/")
    page = text_of(response.content.decode())

    words = {row.case.case_id: row.standing.words for row in response.context["cases"]}
    assert words == {
        cases[0]: "not measurable",
        cases[1]: "error",
        cases[2]: "new, right",
        cases[3]: "error",
        erased: "erased",
    }
    assert "33.3 % right: 1 of 3 cases that could be measured" in page
    assert "it <b>broke</b>" in page
    assert "<b>broke" not in response.content.decode()
    assert "No output was handed in for it." in page
    assert "Which tools were called is not known." in page
    assert "What this run said was erased." in page


def test_only_what_stands_so(admin_client: Client, loop: Loop, cases: list[str]):
    graded(loop, "1.1.0", cases, RIGHT, WRONG, WRONG, RIGHT)
    path = graded(loop, "1.2.0", cases, WRONG, RIGHT, WRONG, RIGHT)

    regressed = admin_client.get(f"{path}?show=regressed", headers=HTMX)
    nonsense = admin_client.get(f"{path}?show=%22%3E%3Cscript%3E")

    assert root_of(regressed.content.decode()) == "test-run-cases"
    assert [row.case.case_id for row in regressed.context["cases"]] == [cases[0]]
    assert len(nonsense.context["cases"]) == 4
    assert '"><script>' not in nonsense.content.decode()
    assert "No case stands so." in text(admin_client, f"{path}?show=erased")


def test_two_runs_side_by_side(admin_client: Client, loop: Loop, cases: list[str]):
    first = loop.grade("1.1.0", dict.fromkeys(cases, WRONG))["runId"]
    graded(loop, "1.2.0", cases, RIGHT, RIGHT, RIGHT, RIGHT)
    path = graded(loop, "1.3.0", cases, RIGHT, WRONG, RIGHT, RIGHT)

    chosen = admin_client.get(f"{path}?against={first}")
    words = [row.standing.words for row in chosen.context["cases"]]

    assert words == ["fixed", "fixed", "fixed", "still wrong"]
    assert "Version 1.1.0 had 0 of 4 of the same cases right." in text_of(chosen.content.decode())
    assert [failure.tool for failure in chosen.context["cases"][0].before.failures] == ["find_order"]
    assert "regressed 1" in text(admin_client, path)
    assert admin_client.get(f"{path}?against={first[:-1]}").context["against"].subject_version == "1.2.0"


@pytest.mark.parametrize("htmx", [False, True], ids=["page", "htmx"])
def test_what_is_shown_stays_when_another_run_is_laid_beside(
    admin_client: Client, loop: Loop, cases: list[str], htmx: bool
):
    graded(loop, "1.1.0", cases, WRONG, WRONG, WRONG, WRONG)
    path = graded(loop, "1.2.0", cases, RIGHT, RIGHT, RIGHT, RIGHT)

    part = admin_client.get(f"{path}?show=fixed", headers=HTMX if htmx else {}).content.decode()
    whole = admin_client.get(path).content.decode()

    kept = '<input type="hidden" name="show" value="fixed">'
    assert [kept in form for form in re.findall(r'<form class="against".*?</form>', part, re.DOTALL)] == [True]
    assert 'name="show"' not in whole


def test_back_to_the_previous_version_what_is_shown_stays(admin_client: Client, loop: Loop, cases: list[str]):
    first = loop.grade("1.1.0", dict.fromkeys(cases, WRONG))["runId"]
    path = graded(loop, "1.2.0", cases, RIGHT, RIGHT, RIGHT, RIGHT)

    shown = admin_client.get(f"{path}?against={first}&show=fixed").content.decode()

    assert re.findall(r'href="([^"]*)">Against the previous version', shown) == ["?show=fixed"]


def test_against_a_run_of_another_workspace_is_not_there(admin_client: Client, loop: Loop, cases: list[str]):
    path = graded(loop, "1.1.0", cases, RIGHT, RIGHT, RIGHT, RIGHT)

    assert admin_client.get(f"{path}?against=01a22eb4-0000-7000-8000-000000000000").status_code == 404


def test_metrics_say_what_they_are_of(admin_client: Client, loop: Loop):
    hits = {"hits": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}
    said = [
        {"key": "a", "pointer": "/hits/0", "rank": 0, "verdict": "wrong"},
        {"key": "b", "pointer": "/hits/1", "rank": 1, "verdict": "right"},
    ]
    case = loop.correct(loop.run(output=hits), items=said)
    loop.freeze()
    run_id = loop.start("1.1.0")
    loop.submit(run_id, {"caseId": case, "output": {"hits": [{"id": "b"}, {"id": "x"}]}, "calls": []})

    page = text(admin_client, f"/test-runs/{run_id}/")

    assert (
        "Right among the first 10 of the corrected items among the first 10, by weight"
        " 100 % 1 case, weight 1 50 % 1 case, weight 2 +50 points" in page
    )
    assert "Among its first 10, 1 of 1 right by weight; 1 of its 3 items corrected" in page


def test_a_waiting_run_can_be_cancelled(admin_client: Client, loop: Loop, cases: list[str], project: Project):
    path = f"/test-runs/{loop.start('1.1.0')}/"
    viewer = Client()
    viewer.force_login(person_with(project, Role.VIEWER))

    assert "Waiting for 4 outputs." in text(admin_client, path)
    assert "Cancel this test run" not in text(viewer, path)
    assert viewer.post(f"{path}cancel/").status_code == 403
    assert TestRun.objects.get().status == "running"
    assert admin_client.post(f"{path}cancel/")["Location"] == path
    assert "This test run was cancelled." in text(admin_client, path)
    assert admin_client.post(f"{path}cancel/").status_code == 409


def test_dry_runs_and_failed_ones_say_so(admin_client: Client, loop: Loop, cases: list[str]):
    dry = loop.start("1.1.0", dryRun=True)
    failed = loop.start("1.2.0")
    loop.ask("POST", f"/v1/test-runs/{failed}/complete")

    assert "A dry run grades nothing." in text(admin_client, f"/test-runs/{dry}/")
    assert "This test run failed: no case gave an output." in text(admin_client, f"/test-runs/{failed}/")


def test_what_it_made_of_the_corrections_is_shown(admin_client: Client, loop: Loop, cases: list[str]):
    graded(loop, "1.1.0", cases, RIGHT, RIGHT, RIGHT, RIGHT)
    loop.change("pin", "1.1.0")

    page = text(admin_client, graded(loop, "1.1.0", cases, WRONG, RIGHT, RIGHT, RIGHT))

    assert "1 came back, 0 fixed" in page


def test_test_runs_of_other_workspaces_are_not_there(client: Client, loop: Loop, cases: list[str]):
    path = f"/test-runs/{loop.start('1.1.0')}/"
    client.force_login(person_with(ProjectFactory(), is_admin=True))

    assert client.get(path).status_code == 404
    assert client.post(f"{path}cancel/").status_code == 404
    assert "support.corrections" not in text(client, "/test-runs/")
    assert TestRun.objects.get().status == "running"


def test_statements_do_not_grow(admin_client: Client, loop: Loop, project: Project):
    counts = {"list": [], "one": []}
    for more, version in ((1, "1.0.0"), (99, "1.1.0")):
        ids = [str(row.id) for row in crowd(project, more)]
        loop.freeze(version)
        for graded_version in ("2.0.0", "2.1.0"):
            run_id = loop.start(graded_version, testSetVersion=version)
            for start in range(0, len(ids), 100):
                loop.submit(run_id, *(output(name) for name in ids[start : start + 100]))
            loop.client.request("POST", f"/v1/test-runs/{run_id}/complete", b"")
        for name, path in (("list", "/test-runs/"), ("one", f"/test-runs/{run_id}/")):
            with CaptureQueriesContext(connection) as asked:
                admin_client.get(path)
            counts[name].append(len(asked))

    assert counts == {"list": [6, 6], "one": [14, 14]}
