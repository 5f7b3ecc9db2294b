"""Reports, by their structure: complete in themselves, every section there, nothing from a file obeyed."""

import re
from dataclasses import replace

import numpy as np
import pytest

from mklcvx import Instance, formulations, solve, verify, zoo
from mklcvx.reports import plot
from mklcvx.reports.pages import chosen_solvers, report_page, sections, verdict_page
from mklcvx.reports.pages.html import element, escaped, joined, power
from mklcvx.reports.pages.page import inline
from mklcvx.reports.pages.theorems import derivation, typeset
from mklcvx.reports.plot._style import words
from mklcvx.verification.answers import Answer
from read_pages import Page, read
from refusals import check_refused

pytestmark = pytest.mark.slow

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "$\\bad_{ & '日本' \x1b]0;\ud800-->"]
THREE = zoo.random(n=16, M=3, overlap=0.6, seed=3)
NAMED = Instance(THREE.kernels, THREE.y, names=HOSTILE)
SECTIONS = ["problem", "optimum", "certificate", "weights", "conditions", "convergence", "derivation", "again"]


@pytest.fixture(scope="module")
def runs():
    return {name: solve(NAMED, "l1", solver=name) for name in ("interior", "silp", "simplemkl")}


@pytest.fixture(scope="module")
def page(runs):
    return report_page(NAMED, solve(NAMED, "l1"), runs, 1e-8, "<problem>.npz")


# ---------------------------------------------------------------------------------------------- a solved problem
def test_the_page_has_every_section_and_links_to_each(page):
    found = read(page)
    assert [name for name in found.ids if name in SECTIONS] == SECTIONS
    assert {f"#{name}" for name in SECTIONS} <= set(found.links)
    assert found.elements.count("svg") == found.elements.count("figure") == 5
    assert found.elements.count("figcaption") == 5


@pytest.mark.parametrize(("name", "checker"), [("l1", "mklcvx.checker"), ("ts", "mklcvx.checker.families")])
def test_the_page_names_the_checker(name, checker):
    text = read(report_page(THREE, solve(THREE, name), {}, 1e-8)).text
    assert f"python -m {checker} problem.npz answer.json" in text


def test_the_page_says_what_was_found(page, runs):
    text, solution = read(page).text, solve(NAMED, "l1")
    certificate = solution.certificate
    for number in (f"{solution.objective:.12g}", f"{certificate.lower:.12g}", f"{certificate.upper:.12g}"):
        assert number in text
    for weight in solution.weights:
        assert f"{weight:.6g}" in text
    for name, run in runs.items():
        assert re.search(rf"{name}{run.iterations}{run.svm_solves or '–'}", text)
    assert "certified" in text
    assert "8 positive, 8 negative" in text
    assert "mklcvx solve '<problem>.npz' -f l1 --set c=1.0" in text.replace("C=", "c=")


def test_names_are_text_wherever_they_appear(page):
    found = read(page)
    assert found.text.count(HOSTILE[0]) >= 2  # in the table and in a picture
    assert found.text.count(HOSTILE[1]) >= 1
    assert "\x1b" not in page
    assert "$\\bad_{ & '日本' �]0;�-->" in found.text


def test_pictures_change_no_name_and_heed_no_settings_but_their_own():
    import matplotlib

    name = ' id="a" url(#b) #000000 fill="#ffffff"'
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30, "svg.fonttype": "path"}):
        made = inline(lambda ax: plot.cutting_planes(two_named(name), steps=1, ax=ax), 3.0, "<title>", "one")
    assert words(name) in Page(made).text
    assert 'aria-label="&lt;title&gt;"' in made
    assert "red" not in made
    assert "ff0000" not in made


def two_named(name):
    hand = zoo.by_hand()
    return Instance(hand.kernels, hand.y, names=[name, "b"])


def test_what_is_not_certified_is_said_to_be(runs):
    failed = replace(solve(NAMED, "l1"), status="not_certified")
    slow = replace(runs["silp"], status="not_certified", message="not certified: relative gap 1; <limit> was reached")
    text = read(report_page(NAMED, failed, {"silp": slow}, 1e-8)).text
    assert "not certified" in text
    assert "relative gap 1; <limit> was reached" in text


def labelled():
    labels = np.column_stack([THREE.y > 0, np.arange(16) % 3 == 0])
    return Instance(THREE.kernels, labels=labels, label_names=["<i>", "two"], groups=[0, 0, 1])


@pytest.mark.parametrize(
    ("name", "instance", "given", "pictures"),
    [
        ("ml_minimax", labelled(), {}, 3),
        ("hypergraph", labelled(), {}, 2),
        ("ts", labelled(), {}, 2),
        ("alignment", labelled(), {}, 3),
        ("li", zoo.rank_one(n=16, M=3), {}, 2),
        ("sm1", zoo.by_hand(), {"theta": 0.7}, 3),
        ("l2", THREE, {"nu": 0.5}, 3),
    ],
)
def test_every_family_has_a_page(name, instance, given, pictures):
    found = read(report_page(instance, solve(instance, name, **given), {}, 1e-8))
    wanted = [section for section in SECTIONS if section != "convergence"]
    assert [section for section in found.ids if section in SECTIONS] == wanted
    assert found.elements.count("figure") == pictures
    if instance.targets.kind == "labels":
        assert "<i> (8)" in found.text
    if name == "li":
        assert "undefined" in found.text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"response": [-1.5, 0.0, 2.0]}, "a response from −1.5 to 2"),
        ({"response": np.eye(3)}, "a response of 3 outputs from 0 to 1"),
        ({}, "no targets"),
    ],
)
def test_targets_that_are_no_labels_are_described(given, shown):
    assert shown in sections.problem(Instance(np.eye(3)[None], **given), "l1", {"C": 1.0})


def test_the_usual_solvers_are_few_and_begin_with_interior():
    assert chosen_solvers("l1", None) == ["interior", "silp", "simplemkl", "level"]
    assert chosen_solvers("sum", None) == ["interior"]
    assert chosen_solvers("l1", ["clarabel", "silp", "clarabel"]) == ["clarabel", "silp"]
    with check_refused("--solvers", "interior,clarabel"):
        chosen_solvers("l1", [])
    with check_refused("silp does not fit l2"):
        chosen_solvers("l2", ["silp"])


# ------------------------------------------------------------------------------------------------------ derivations
@pytest.mark.parametrize("formulation", formulations.FORMULATIONS, ids=lambda f: f.name)
def test_the_derivation_is_the_docstring(formulation):
    """Letter by letter, but for spaces and the marks of indices and code."""

    def letters(text):
        return re.sub(r"[\s_^{}`]", "", text)

    made = derivation(formulation)
    text = Page(made).text
    assert letters(formulation.theorem) in letters(text)
    assert letters(formulation.notation) in letters(text)
    assert not re.search(r"[_^]\{", text)
    for name, meaning in formulation.described_parameters:
        assert letters(name + meaning) in letters(text)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Σ_{m>ω} a_m² < ‖f_k^a‖", "Σ<sub>m&gt;ω</sub> a<sub>m</sub>² &lt; ‖f<sub>k</sub><sup>a</sup>‖"),
        ("tr(Z'K_jZ), w_ij", "tr(Z'K<sub>j</sub>Z), w<sub>ij</sub>"),
        ("class_values of `ml_sum`", "class_values of <code>ml_sum</code>"),
        ("f_1..f_M, ζ^{p/(p−1)}", "f<sub>1</sub>..f<sub>M</sub>, ζ<sup>p/(p−1)</sup>"),
        ("max_j D_e^{−1}", "max<sub>j</sub> D<sub>e</sub><sup>−1</sup>"),
        ("(α∘y)_i = <b>", "(α∘y)<sub>i</sub> = &lt;b&gt;"),
    ],
)
def test_indices_go_below_and_above(text, made):
    assert typeset(text) == made


# -------------------------------------------------------------------------------------------------- judged answers
def test_a_rejected_answer_has_its_verdict_parts_diagnosis_and_weights():
    solution = solve(NAMED, "l1")
    wrong = solution.weights / np.linalg.norm(solution.weights)
    report = verify(NAMED, "l1", weights=wrong, alpha=solution.alpha)
    given = Answer(weights=wrong, alpha=solution.alpha, bias=3.0)
    text = verdict_page(NAMED, report, given, "problem.npz", "<answer>.json")
    found = read(text)
    sections = ["verdict", "problem", "certificate", "weights", "conditions", "derivation"]
    assert [name for name in found.ids if name in sections] == sections
    assert "<answer>.json is rejected at a tolerance of 10−6." in found.text
    assert report.diagnosis.words in found.text
    assert "Σ weights = 1 by" in found.text
    for exact, candidate in zip(solution.weights, wrong, strict=True):
        assert f"{exact:.6g}{candidate:.6g}" in found.text
    assert found.elements.count("pattern") > 0  # the hatches of the candidate's bars
    assert found.elements.count("figure") == 3
    assert "The candidate's α, against the margins of its own classifier." in found.text


def test_an_accepted_answer_and_an_objective_alone():
    solution = solve(NAMED, "l1")
    report = verify(NAMED, "l1", objective=solution.objective)
    found = read(verdict_page(NAMED, report, Answer(objective=solution.objective)))
    assert "An answer: accepted" in found.text
    assert "candidate" not in found.text


def test_coefficients_are_drawn_in_place_of_weights():
    instance = labelled()
    solution = solve(instance, "ml_sum")
    strange = {"rho": "word"}
    given = Answer(
        coefficients=solution.all_coefficients, alpha=solution.alpha, bias=np.zeros(5), multipliers=strange
    )  # fmt: skip
    report = verify(instance, "ml_sum", coefficients=given.coefficients, alpha=given.alpha)
    found = read(verdict_page(instance, report, given))
    assert report.accepted
    exact, other = (part for part in re.findall(r"α = 0: \d+", found.text))
    assert exact == other


# -------------------------------------------------------------------------------------------------------- the parts
def test_only_elements_are_markup():
    made = element("p", "<b>", element("i", "&"), None, class_='a"b')
    assert made == '<p class="a&quot;b">&lt;b&gt;<i>&amp;</i></p>'
    assert element("br") == "<br>"
    assert escaped("\x00a\nb") == "�a\nb"
    assert joined(["<", element("b")], ", ") == "&lt;, <b></b>"


@pytest.mark.parametrize(
    ("number", "made"),
    [(0.0, "0"), (-1e-17, "0"), (1e-6, "10<sup>−6</sup>"), (3.04e-12, "3.0·10<sup>−12</sup>"), (1.13, "1.1"),
     (0.05, "0.05"), (9.96e5, "10<sup>6</sup>")],
)  # fmt: skip
def test_small_numbers_are_powers_of_ten(number, made):
    assert power(number) == made


# ------------------------------------------------------------------------------------------------------- other losses
def test_a_response_has_its_predictions_and_errors():
    response = THREE.y * np.linspace(0.5, 2.0, 16)
    trained = Instance(THREE.kernels, response=response)
    solution = solve(trained, "l1", loss="huber", delta=0.5)
    page = read(report_page(trained, solution, {}, 1e-8))
    assert [one for one in page.ids if one in (*SECTIONS, "fit")] == [
        "problem", "optimum", "certificate", "weights", "fit", "conditions", "derivation", "again",
    ]  # fmt: skip
    off = response - solution.decision_function(THREE.kernels)
    assert f"root mean squared error{np.sqrt(np.mean(off**2)):.6g}"[:30] in page.text.replace("\n", "")
    assert "16 training samples" in page.text
    assert "α against the residual" in page.text
    assert "minus the slope of the loss" in page.text
    tested = Instance(THREE.kernels, response=response, test_kernels=THREE.kernels[:, :5], test_response=response[:5])
    assert "5 test samples" in read(report_page(tested, solution, {}, 1e-8)).text


@pytest.mark.parametrize(
    ("targets", "loss"),
    [
        ({"y": THREE.y}, "logistic"),
        ({}, "one_class"),
        ({"classes": np.arange(16) % 3}, "softmax"),
        ({"response": np.column_stack([THREE.y, np.arange(16.0)])}, "squared"),
        ({"response": np.arange(16) % 4}, "poisson"),
    ],
)
def test_every_kind_of_target_has_a_page(targets, loss):
    instance = Instance(THREE.kernels, **targets)
    solution = solve(instance, "l1", loss=loss)
    page = read(report_page(instance, solution, {}, 1e-8))
    assert "conditions" in page.ids
    assert ("fit" in page.ids) == ("response" in targets)
    assert ("α against the margin" in page.text) == (loss in ("logistic", "one_class"))
