"""What shipping and grading do to corrections: rows E1 to E6 and decision 3, in both orders (contract 8.2, 16.3)."""

import pytest

from corrections.models import CorrectionEvent
from kindgi_site.callers import Role
from tests.api.expect import nothing_stored
from tests.factories import CorrectorGroupFactory, ProjectFactory
from tests.loop import ANSWER, RIGHT_CALL, WRONG_CALL, Loop, output

RIGHT, WRONG = [RIGHT_CALL], [WRONG_CALL]
MARKS = ("status", "fixedIn", "reopenedIn")


@pytest.fixture
def by(admin):
    return {"kind": "user", "id": str(admin.id)}


def marks(loop, correction):
    """Status and marks without their times, which are the server's."""
    found = {name: value for name, value in loop.correction(correction).items() if name in MARKS}
    for name in MARKS[1:]:
        found.get(name, {}).pop("at", None)
    return found


def causes(correction):
    steps = CorrectionEvent.objects.filter(correction=correction).order_by("at", "id")
    return [(step.action, step.from_status, step.to_status, step.by_kind, step.cause) for step in steps]


def live_and_graded(loop, version, calls, correction, order):
    """The two moments of 16.3, in either order; what made the server look comes back."""
    if order == "graded first":
        loop.grade(version, {correction: calls})
        return f"live-change:{loop.change('pin', version)['id']}"
    loop.change("pin", version)
    return f"test-run:{loop.grade(version, {correction: calls})['runId']}"


ORDERS = pytest.mark.parametrize("order", ["graded first", "live first"])


@pytest.fixture
def frozen(loop):
    """A correction with the owner, in the agent's frozen set."""
    correction = loop.correct()
    loop.freeze()
    return correction


@pytest.fixture
def fixed(loop, frozen):
    """It was fixed in 1.1.0, which is live."""
    loop.grade("1.1.0", {frozen: RIGHT})
    loop.change("pin", "1.1.0")
    return frozen


@ORDERS
def test_e1_right_at_the_live_version_is_fixed(loop, frozen, by, order):
    cause = live_and_graded(loop, "1.1.0", RIGHT, frozen, order)

    mark = {"version": "1.1.0", "how": "pin", "by": by}
    assert marks(loop, frozen) == {"status": "fixed", "fixedIn": mark}
    assert loop.correction(frozen)["sortedTo"] == "owner"
    assert causes(frozen) == [("fixed", "with-owner", "fixed", "", cause)]


@pytest.mark.parametrize("first", ["graded", "live"])
def test_one_of_the_two_moments_alone_fixes_nothing(loop, frozen, first):
    before = loop.correction(frozen)

    if first == "graded":
        loop.grade("1.1.0", {frozen: RIGHT})
        loop.change("pin", "1.2.0")
    else:
        loop.change("pin", "1.1.0")
        loop.grade("1.2.0", {frozen: RIGHT})

    assert loop.correction(frozen) == before


@ORDERS
@pytest.mark.parametrize("state", ["open", "being-fixed"])
def test_e1_from_the_other_open_states_keeps_the_link(loop, by, order, state):
    correction = loop.correct()
    loop.ask("POST", f"/v1/corrections/{correction}/sort", {"to": "developer"})
    if state == "being-fixed":
        link = {"kind": "pull-request", "url": "https://example.org/1"}
        loop.ask("POST", f"/v1/corrections/{correction}/link", link)
    loop.freeze()
    before = loop.correction(correction)
    assert before["status"] == state

    live_and_graded(loop, "1.1.0", RIGHT, correction, order)

    after = loop.correction(correction)
    assert after == before | {"status": "fixed", "fixedIn": after["fixedIn"], "updatedAt": after["updatedAt"]}


@ORDERS
def test_e2_wrong_at_the_live_version_goes_back_to_whom_it_was_sorted(loop, fixed, by, order):
    cause = live_and_graded(loop, "1.2.0", WRONG, fixed, order)

    assert marks(loop, fixed) == {
        "status": "with-owner",
        "fixedIn": {"version": "1.1.0", "how": "pin", "by": by},
        "reopenedIn": {"version": "1.2.0", "how": "pin", "by": by},
    }
    assert causes(fixed)[-1] == ("reopened", "fixed", "with-owner", "", cause)


@ORDERS
def test_e2_what_was_recorded_right_opens_unsorted(loop, by, order):
    correction = loop.correct(loop.run(), decisions="right")
    loop.freeze()
    other_tool = [{"toolId": "cancel_order"}]

    live_and_graded(loop, "1.1.0", other_tool, correction, order)

    found = marks(loop, correction)
    assert found == {
        "status": "open",
        "fixedIn": {"how": "recorded-right"},
        "reopenedIn": {"version": "1.1.0", "how": "pin", "by": by},
    }


@ORDERS
def test_e3_wrong_at_another_live_version_replaces_where_it_was_reopened(loop, fixed, by, order):
    live_and_graded(loop, "1.2.0", WRONG, fixed, order)

    live_and_graded(loop, "1.3.0", WRONG, fixed, order)

    assert marks(loop, fixed)["reopenedIn"] == {"version": "1.3.0", "how": "pin", "by": by}
    assert marks(loop, fixed)["fixedIn"]["version"] == "1.1.0"


def test_wrong_once_more_at_the_version_it_was_reopened_in_changes_nothing(loop, fixed):
    live_and_graded(loop, "1.2.0", WRONG, fixed, "live first")
    before = loop.correction(fixed)

    loop.grade("1.2.0", {fixed: WRONG})

    assert loop.correction(fixed) == before


@ORDERS
@pytest.mark.parametrize("calls", [RIGHT, WRONG], ids=["right", "wrong"])
@pytest.mark.parametrize("state", ["wont-fix", "removed"])
def test_e4_settled_by_people_stays(loop, frozen, order, calls, state):
    if state == "removed":
        loop.ask("POST", f"/v1/corrections/{frozen}/unregister")
    else:
        loop.ask("POST", f"/v1/corrections/{frozen}/status", {"status": state})
    before = loop.correction(frozen)

    live_and_graded(loop, "1.1.0", calls, frozen, order)

    assert loop.correction(frozen) == before


@ORDERS
def test_e5_right_again_keeps_the_first_version_it_was_fixed_in(loop, fixed, order):
    before = loop.correction(fixed)

    live_and_graded(loop, "1.2.0", RIGHT, fixed, order)

    assert loop.correction(fixed) == before


@ORDERS
def test_e6_wrong_where_nothing_was_fixed_yet_changes_nothing(loop, frozen, order):
    before = loop.correction(frozen)

    live_and_graded(loop, "1.1.0", WRONG, frozen, order)

    assert loop.correction(frozen) == before


def test_a_flaky_case_flips_with_each_grading_of_the_live_version(loop, fixed, by):
    for calls, status in [(WRONG, "with-owner"), (RIGHT, "fixed"), (WRONG, "with-owner"), (RIGHT, "fixed")]:
        loop.grade("1.1.0", {fixed: calls})
        assert loop.correction(fixed)["status"] == status

    assert marks(loop, fixed) == {"status": "fixed", "fixedIn": {"version": "1.1.0", "how": "pin", "by": by}}
    assert [step[0] for step in causes(fixed)] == ["fixed", "reopened", "fixed", "reopened", "fixed"]


def test_a_live_change_goes_by_the_newest_grading_that_says_something(loop, frozen):
    """Right, then wrong, then one that could not be graded: the wrong one counts."""
    loop.grade("1.1.0", {frozen: RIGHT})
    loop.grade("1.1.0", {frozen: WRONG})
    run = loop.start("1.1.0")
    loop.submit(run, {"caseId": frozen, "output": ANSWER})  # nobody says which calls were made
    assert loop.ask("GET", f"/v1/test-runs/{run}")["result"]["perCase"][0]["outcome"] == "ungraded"
    before = loop.correction(frozen)

    loop.change("pin", "1.1.0")
    assert loop.correction(frozen) == before

    loop.grade("1.2.0", {frozen: WRONG})
    loop.grade("1.2.0", {frozen: RIGHT})
    loop.change("pin", "1.2.0")
    assert loop.correction(frozen)["status"] == "fixed"


def test_gradings_of_the_latest_do_nothing_while_another_version_is_pinned(loop, frozen):
    loop.change("pin", "1.0.0")
    before = loop.correction(frozen)

    loop.change("latest", "1.1.0")
    loop.grade("1.1.0", {frozen: RIGHT})
    assert loop.correction(frozen) == before

    unpinned = loop.change("unpin")
    assert marks(loop, frozen)["fixedIn"]["version"] == "1.1.0"
    assert causes(frozen) == [("fixed", "with-owner", "fixed", "", f"live-change:{unpinned['id']}")]


def test_after_an_unpin_it_is_fixed_by_latest_by_whoever_unpinned(loop, frozen, by):
    loop.change("pin", "1.0.0")
    loop.change("latest", "1.1.0")
    loop.grade("1.1.0", {frozen: RIGHT})

    loop.change("unpin")

    assert marks(loop, frozen)["fixedIn"] == {"version": "1.1.0", "how": "latest", "by": by}


def test_when_latest_moves_nobody_in_particular_fixed_or_reopened_it(loop, frozen):
    loop.grade("1.1.0", {frozen: RIGHT})
    loop.change("latest", "1.1.0")
    assert marks(loop, frozen)["fixedIn"] == {"version": "1.1.0", "how": "latest"}

    loop.grade("1.2.0", {frozen: WRONG})
    loop.change("latest", "1.2.0")
    assert marks(loop, frozen)["reopenedIn"] == {"version": "1.2.0", "how": "latest"}


def test_going_back_reopens_as_went_back_and_fixes_as_a_pin(loop, fixed, by):
    loop.grade("1.0.0", {fixed: WRONG})
    loop.change("pin", "1.0.0")
    assert marks(loop, fixed)["reopenedIn"] == {"version": "1.0.0", "how": "went-back", "by": by}

    loop.grade("0.9.0", {fixed: RIGHT})
    loop.change("pin", "0.9.0")
    assert marks(loop, fixed) == {"status": "fixed", "fixedIn": {"version": "0.9.0", "how": "pin", "by": by}}


def test_an_unpin_reopens_as_an_unpin(loop, fixed, by):
    loop.change("latest", "1.2.0")
    loop.grade("1.2.0", {fixed: WRONG})

    loop.change("unpin")

    assert marks(loop, fixed)["reopenedIn"] == {"version": "1.2.0", "how": "unpin", "by": by}


def test_a_later_grading_names_the_change_that_made_the_version_live(loop, frozen, by):
    """The pin was first; saying Latest moved, and pinning it again, is not how the project came to run it."""
    loop.change("pin", "1.1.0")
    loop.change("latest", "1.1.0")
    loop.change("pin", "1.1.0")

    loop.grade("1.1.0", {frozen: RIGHT})

    assert marks(loop, frozen)["fixedIn"] == {"version": "1.1.0", "how": "pin", "by": by}


@pytest.mark.parametrize(
    "entry",
    [
        {"error": "It fell over."},
        {"stopped": {"reason": "Somebody had to approve."}},
        {"output": ANSWER},
    ],
    ids=["error", "stopped", "calls unknown"],
)
def test_a_case_that_errs_stops_or_is_ungraded_settles_nothing(loop, fixed, entry):
    before = loop.correction(fixed)
    run = loop.start("1.1.0")

    loop.submit(run, {"caseId": fixed} | entry)

    assert loop.ask("GET", f"/v1/test-runs/{run}")["status"] in ("completed", "failed")
    assert loop.correction(fixed) == before


def test_a_dry_or_cancelled_run_settles_nothing(loop, fixed):
    before = loop.correction(fixed)

    loop.start("1.1.0", dryRun=True)
    run = loop.start("1.1.0", repetitions=2)
    loop.submit(run, output(fixed, WRONG))
    loop.ask("POST", f"/v1/test-runs/{run}/cancel")
    loop.change("pin", "1.0.0")
    loop.change("pin", "1.1.0")

    assert loop.correction(fixed) == before


def test_a_grading_that_leaves_out_what_is_expected_settles_nothing(loop, fixed):
    """The correction is nobody's expert one, so `experts-only` drops its `expect`."""
    before = loop.correction(fixed)

    done = loop.grade("1.1.0", {fixed: WRONG}, groupWeights="experts-only")

    assert done["result"]["perCase"][0]["outcome"] == "ungraded"
    assert loop.correction(fixed) == before


def test_an_experts_correction_is_settled_by_experts_alone(loop, root_client):
    group = CorrectorGroupFactory(workspace=loop.project.workspace, principal_kinds=["user"])
    said = {"decisions": "wrong", "shouldCall": [{"tool": "find_order", "args": {"order": 7}}]}
    correction = loop.correct(loop.run(calls=WRONG), correctorGroupId=str(group.id), **said)
    assert loop.correction(correction)["expert"] is True
    loop.freeze()
    loop.change("pin", "1.1.0")

    loop.grade("1.1.0", {correction: RIGHT}, groupWeights="experts-only")

    assert loop.correction(correction)["status"] == "fixed"


def test_one_wrong_repetition_reopens_and_only_all_right_ones_fix(loop, frozen):
    loop.change("pin", "1.1.0")

    for calls, status in [((RIGHT, WRONG), "with-owner"), ((RIGHT, RIGHT), "fixed"), ((WRONG, RIGHT), "with-owner")]:
        run = loop.start("1.1.0", repetitions=2)
        loop.submit(run, *(output(frozen, made, repetition=number) for number, made in enumerate(calls)))
        assert loop.correction(frozen)["status"] == status


@pytest.mark.parametrize(("calls", "is_news"), [(RIGHT, False), (WRONG, True)], ids=["right", "wrong"])
def test_a_repetition_that_is_missing_can_hide_a_wrong_one_but_not_make_up_a_right_one(loop, fixed, calls, is_news):
    loop.grade("1.1.0", {fixed: WRONG if calls == RIGHT else RIGHT})
    before = loop.correction(fixed)["status"]
    run = loop.start("1.1.0", repetitions=2)
    loop.submit(run, output(fixed, calls))

    loop.ask("POST", f"/v1/test-runs/{run}/complete")

    assert (loop.correction(fixed)["status"] != before) == is_news


def test_a_test_run_of_another_project_settles_nothing_here(loop, fixed, admin):
    """The set is this project's, the run another's: what is live there is another matter."""
    other = ProjectFactory(workspace=loop.project.workspace)
    other.roles.create(person=admin, role=Role.ADMIN)
    before = loop.correction(fixed)
    Loop(loop.client, other).change("pin", "1.1.0")

    loop.grade("1.1.0", {fixed: WRONG}, projectId=str(other.id))

    assert loop.correction(fixed) == before


def test_a_test_run_of_another_agent_settles_nothing(loop, fixed):
    Loop(loop.client, loop.project, "billing").change("pin", "1.1.0")
    before = loop.correction(fixed)

    loop.grade("1.1.0", {fixed: WRONG}, agentRef={"agentId": "billing", "version": "1.1.0"})

    assert loop.correction(fixed) == before


def test_a_rescore_is_a_grading_too(loop, frozen):
    graded = loop.grade("1.1.0", {frozen: RIGHT})
    loop.change("pin", "1.1.0")
    loop.ask("POST", f"/v1/corrections/{frozen}/status", {"status": "open"})

    loop.ask("POST", f"/v1/test-runs/{graded['runId']}/rescore", status=201)

    assert loop.correction(frozen)["status"] == "fixed"


def test_what_a_change_says_it_fixes_is_fixed_without_a_grading(loop, by):
    owners, improvers, unsaid = loop.correct(), loop.correct(loop.run(), answer="wrong", why="Late."), loop.correct()

    change = loop.change("pin", "1.1.0", fixes=[owners, improvers, owners])

    for correction in (owners, improvers):
        assert marks(loop, correction) == {
            "status": "fixed",
            "fixedIn": {"version": "1.1.0", "how": "pin", "by": by},
        }
        assert causes(correction)[-1][4] == f"live-change:{change['id']}"
    assert loop.correction(unsaid)["status"] == "with-owner"


def test_what_a_change_says_it_fixes_wins_over_an_earlier_grading_and_loses_to_a_later_one(loop, frozen, by):
    loop.grade("1.1.0", {frozen: WRONG})
    loop.change("pin", "1.1.0", fixes=[frozen])
    assert loop.correction(frozen)["status"] == "fixed"

    loop.grade("1.1.0", {frozen: WRONG})
    assert marks(loop, frozen) == {
        "status": "with-owner",
        "fixedIn": {"version": "1.1.0", "how": "pin", "by": by},
        "reopenedIn": {"version": "1.1.0", "how": "pin", "by": by},
    }


def test_a_change_that_makes_nothing_live_fixes_nothing(loop, frozen):
    loop.change("pin", "1.0.0")
    before = loop.correction(frozen)

    loop.change("latest", "1.1.0", fixes=[frozen])

    assert loop.correction(frozen) == before


def test_a_refused_fix_leaves_what_is_live_as_it_was(loop, fixed):
    with nothing_stored():
        refused = loop.client.post(f"{loop.base}/live-changes", {"action": "pin", "version": "1.2.0", "fixes": [fixed]})
    assert (refused.status_code, refused.json()["error"]["details"]["from"]) == (409, "fixed")
