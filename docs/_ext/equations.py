r"""The numbered equations that claims speak of: as printed, in our notation, with the page where each stands.

A reader who meets "Eqs (8), (9)" in a table finds them here, and what is wrong with one, where something is, in the
table. Conversions of the texts may have lost a sign; what is shown is what the claims put to the test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![\w∂])\((\d+)\)")


@dataclass(frozen=True)
class Equation:
    number: int
    latex: str
    page: str  # of a formulation, or of a chapter by its number and title


def _some(page: str, **numbered: str) -> tuple[Equation, ...]:
    return tuple(Equation(int(name.removeprefix("eq")), latex, page) for name, latex in numbered.items())


TERM = r"1^\top\alpha^k-\tfrac12(\alpha^k\circ y^k)^\top K(p)(\alpha^k\circ y^k)"
BUCAK = (
    *_some(
        "ml_sum",
        eq1=r"\min_{p\in\Delta,\,f}\ \sum_kH_k,\quad H_k=\tfrac12\|f_k\|^2_{K(p)}+\sum_i(1-y_i^kf_k(x_i))_+",
        eq2=rf"\min_{{p\in\Delta}}\ \max_{{\alpha^k\in[0,C]^n}}\ \sum_k\,{TERM}",
    ),
    *_some(
        "ml_minimax",
        eq3=r"\min_{p\in\Delta,\,f}\ \max_kH_k",
        eq4=r"\min_{p\in\Delta}\ \max_{\beta,\lambda}\ \Bigl(\sum_k\bigl(1^\top\beta^k"
        r"-\tfrac12(\beta^k\circ y^k)^\top K(p)(\beta^k\circ y^k)\bigr)^{1/2}\Bigr)^2,\\ "
        r"0\le\beta^k\le C\lambda_k,\ \textstyle\sum_k\lambda_k=1",
        eq5=rf"\min_{{p\in\Delta}}\ \max_{{\gamma\in\Delta}}\ L(p,\gamma),\\ "
        rf"L=\max_{{\alpha^k\in[0,C]^n}}\sum_k\gamma_k\,H_k(\alpha),\quad H_k={TERM}",
        eq6=r"\frac{\partial L}{\partial p_a}=-\tfrac12\sum_k\gamma_k"
        r"(\alpha^k\circ y^k)^\top K_a(\alpha^k\circ y^k),\\ "
        rf"\frac{{\partial L}}{{\partial\gamma_k}}={TERM}",
    ),
    *_some(
        "08_stochastic",
        eq7=r"p_a\propto p_a\exp\bigl(-\eta_p\,\partial L/\partial p_a\bigr),\quad "
        r"\gamma_k\propto\gamma_k\exp\bigl(-\eta_\gamma\,\partial L/\partial\gamma_k\bigr)",
        eq8=r"\hat g^p_a=-\tfrac12(\alpha^j\circ y^j)^\top K_a(\alpha^j\circ y^j),\quad j\text{ the class drawn}",
        eq9=rf"\hat g^\gamma_k=\frac1{{\gamma_k}}\bigl({TERM}\bigr)\ \text{{for }}k=j,\quad 0\ \text{{otherwise}}",
    ),
)
GOVINDARAJ = (
    *_some(
        "li",
        eq1=r"\lambda_kf_k=\tfrac12K_k(\alpha\circ y)",
        eq2=r"\sum_k\lambda_k=1",
        eq3=r"\sum_i\alpha_iy_i=0",
        eq4=r"C=\alpha_i+\beta_i,\ \beta_i\ge0:\quad 0\le\alpha\le C",
        eq5=r"\min_{\alpha\in S,\,\lambda\in\Delta}\ \tfrac12\alpha^\top Q(\lambda)\alpha-1^\top\alpha,\quad "
        r"Q(\lambda)=\tfrac12\sum_kQ_k/\lambda_k",
        eq6=r"\min_{\lambda\in\Delta}\ J(\lambda)",
        eq7=r"J(\lambda)=\min_{\alpha\in S}\ \tfrac12\alpha^\top Q(\lambda)\alpha-1^\top\alpha",
        eq8=r"\min_{\lambda\in\Delta}\ \sum_kD_k/\lambda_k,\quad D_k=\alpha^\top Q_k\alpha=q_k(\alpha)",
        eq9=r"\lambda_k=\sqrt{D_k}\,\big/\,\sum_l\sqrt{D_l}",
    ),
    *_some(
        "ckl",
        eq10=r"\min_{f,\,b,\,\xi}\ \max_j\Bigl(\sum_{k\in j}\|f_{jk}\|\Bigr)^2+C\sum_i\xi_i",
        eq11=r"y_i\Bigl(\sum_j\sum_{k\in j}f_{jk}(x_i)-b\Bigr)\ge1-\xi_i,\ \xi_i\ge0",
        eq12=r"\min_{\lambda_j\in\Delta}\ \max_{\alpha\in S,\,\gamma\in\Delta}\ "
        r"1^\top\alpha-\tfrac14\sum_j\sum_{k\in j}\lambda_{jk}\,\alpha^\top Q_{jk}\alpha/\gamma_j",
        eq13=r"\min_{\gamma\in\Delta}\ \sum_jD_j/\gamma_j,\quad D_j=\max_{k\in j}\alpha^\top Q_{jk}\alpha",
    ),
)
JI = (
    *_some(
        "hypergraph",
        eq1=r"\min_W\ \tr\bigl(W^\top\phi(X)\,\mathcal L\,\phi(X)^\top W\bigr),\quad "
        r"W^\top(\phi(X)\phi(X)^\top+\lambda I)W=I",
        eq2=r"\max_B\ \tr(B^\top KCKB),\quad B^\top(K^2+\lambda K)B=I",
        eq3=r"K=\sum_j\theta_jK_j,\quad\theta\in\Delta",
        eq7=r"\min_Z\ f(Z)",
        eq8=r"f(Z)=\max_{\theta\in\Delta}\ \sum_j\theta_jS_j(Z),\quad "
        r"S_j(Z)=\tfrac14\|Z\|^2+\tfrac1{4\lambda}\tr(Z^\top K_jZ)-\tr(Z^\top H)",
    ),
    *_some(
        "hypergraph_smooth",
        eq9=r"f_\mu(Z)=\max_{\theta\in\Delta}\ \sum_j\theta_jS_j(Z)-\mu\sum_j\theta_j\log\theta_j",
        eq10=r"f_\mu(Z)=\mu\log\sum_j\exp(S_j(Z)/\mu)",
        eq11=r"\sum_j\theta_jS_j-\mu\sum_j\theta_j\log\theta_j+\sum_j\alpha_j\theta_j+\beta\bigl(\sum_j\theta_j-1\bigr)",
        eq12=r"\theta_j=\exp\bigl((S_j(Z)-f_\mu(Z))/\mu\bigr)",
        eq13=r"\min_Z\ f_\mu(Z)",
        eq14=r"\min_{Z,u,v}\ \mu\log\sum_j\exp\bigl(u_j+v_j-\textstyle\sum_iz_i^\top h_i\bigr),\\ "
        r"\mu u_j\ge\tfrac14\|Z\|^2,\ \mu v_j\ge\tfrac1{4\lambda}\tr(Z^\top K_jZ)",
        eq15=r"L\le L_\mu\quad\text{for the largest eigenvalue }L\text{ of }\nabla^2f_\mu(Z)",
        eq16=r"L_\mu=\tfrac12+\tfrac1{2\lambda}\max_j\lambda_{\max}(K_j)\\ "
        r"\quad+\tfrac1{8\mu\lambda^2}\tr(Z^\top Z)\max_{i,j}\lambda_{\max}\bigl((K_i-K_j)(K_i-K_j)^\top\bigr)",
        eq17=r"R_\mu^2=\sum_i\Bigl(\|[C_j]_i\|+\sqrt{4\mu\log p+\tr\bigl(C_j^\top(I+K_j/\lambda)C_j\bigr)}\Bigr)^2,"
        r"\quad p\text{ kernels}",
        eq18=r"\nabla f_\mu(Z)=\sum_j\theta_j\bigl(\tfrac12Z+\tfrac1{2\lambda}K_jZ\bigr)-H",
        eq19=r"\nabla^2f_\mu(Z)=\tfrac12I+\sum_j\tfrac{\theta_j}{2\lambda}\,I\otimes K_j\\ "
        r"\quad+\tfrac1{8\mu\lambda^2}\sum_{i,j}\theta_i\theta_j\,d_{ij}d_{ij}^\top,\quad "
        r"d_{ij}=\operatorname{vec}((K_i-K_j)Z)",
        eq20=r"f_\mu(Z^{N+1})-\min f_\mu\le4L_\mu R_\mu^2/(N+1)^2",
        eq21=r"f(Z^{N+1})-\min f\le\mu\log p+4L_\mu R_\mu^2/(N+1)^2",
    ),
)
KUMAR = (
    *_some(
        "ts",
        eq1=r"z_{ij}=(K_1(i,j),\dots,K_M(i,j)),\quad t_{ij}=2\cdot1\{y_i=y_j\}-1",
        eq2=r"\min_{\mu\ge0}\ \tfrac\lambda2\|\mu\|^2+\frac1{\binom n2+n}\sum_{i\le j}(1-t_{ij}\,\mu^\top z_{ij})_+",
    ),
    *_some(
        "alignment",
        eq3=r"\max_{\mu\ge0}\ \Bigl\langle\sum_m\mu_mK_m,T\Bigr\rangle\Big/\Bigl\|\sum_m\mu_mK_m\Bigr\|_F,"
        r"\quad\|\mu\|_2=1",
    ),
)
FITTING = r"\sum_i\xi_i-\rho,\quad y_if(x_i)\ge\rho-\xi_i,\ \xi_i\ge0"
XU = (
    *_some(
        "svm",
        eq2=rf"\min\ \tfrac12\|f\|^2+C{FITTING}",
        eq3=r"\max_{\alpha\in A}\ -\tfrac12(\alpha\circ y)^\top K(\alpha\circ y)",
        eq4=r"A=\{\alpha:1^\top\alpha=1,\ y^\top\alpha=0,\ 0\le\alpha\le C\}",
    ),
    *_some(
        "l1",
        eq5=rf"\min\ \tfrac12\Bigl(\sum_m\|f_m\|\Bigr)^2+C{FITTING}",
        eq6=r"\max_{\alpha\in A,\,\tau}\ \tau,\quad -\tfrac12q_m(\alpha)\ge\tau",
        eq7=r"\max_{\alpha\in A}\ \min_{\mu\in\Delta}\ -\tfrac12\sum_m\mu_mq_m(\alpha)",
    ),
    *_some(
        "sm1",
        eq10=r"\min_{\alpha\in A,\,\tau,\,\zeta\ge0}\ -\tau+\theta\sum_m\zeta_m,\quad "
        r"-\tfrac12q_m(\alpha)\ge\tau-\zeta_m",
        eq11=r"\min_{\mu}\ \max_{\alpha\in A}\ -\tfrac12\sum_m\mu_mq_m(\alpha),\quad\sum_m\mu_m=1,\ 0\le\mu\le\theta",
    ),
    *_some(
        "sm2",
        eq12=r"\min_{\alpha\in A,\,\tau,\,\zeta}\ \tau+\tfrac\theta2\sum_m\zeta_m^2,\quad "
        r"-\tfrac12q_m(\alpha)\ge\tau-\zeta_m",
        eq13=r"\min_{\mu\in\Delta}\ \max_{\alpha\in A}\ -\tfrac12\sum_m\mu_mq_m(\alpha)+\tfrac1{2\theta}\sum_m\mu_m^2",
        eq14=r"\min_{\mu\in\Delta,\,f}\ \tfrac12\sum_m\|f_m\|^2/\mu_m+\tfrac1{2\theta}\sum_m\mu_m^2+C\sum_i\xi_i-\rho",
    ),
    *_some(
        "square", eq15=r"\min_{\alpha\in A,\,\zeta}\ \tfrac\theta2\sum_m\zeta_m^2,\quad\tfrac12q_m(\alpha)\le\zeta_m"
    ),
    *_some("l2", eq16=r"\min_{\mu}\ \max_{\alpha\in A}\ -\tfrac12\sum_m\mu_mq_m(\alpha),\quad\|\mu\|_2\le1,\ \mu\ge0"),
    *_some(
        "sm1",
        eq17=r"\min_{\mu,\,f}\ \tfrac12\sum_m\|f_m\|^2/\mu_m+C\sum_i\xi_i-\rho,\quad\sum_m\mu_m=1,\ 0\le\mu\le\theta",
        eq21=r"\min_\mu\ \sum_ma_m/\mu_m,\quad\sum_m\mu_m=1,\ 0\le\mu\le\theta,\quad a_m=\tfrac12\|f_m\|^2",
        eq25=r"\mu_m=\theta\ (m\le\omega),\quad "
        r"\mu_m=(1-\omega\theta)\sqrt{a_m}\Big/\sum_{l>\omega}\sqrt{a_l}\ (m>\omega)",
    ),
    *_some(
        "sm2",
        eq26=r"p_m=-\tfrac12q_m(\alpha)+\mu_m/\theta",
        eq27=r"\mu\leftarrow\text{the point of }\Delta\text{ nearest to }\mu-\eta p",
    ),
    *_some("sm1", eq28=r"(10)\text{, written out: }\min\ -\tau+\theta\sum_m\zeta_m,\ \zeta\ge0"),
)
EQUATIONS = {
    "Bucak et al. 2010": BUCAK,
    "Govindaraj 2009": GOVINDARAJ,
    "Ji et al. 2008": JI,
    "Kumar et al. 2012": KUMAR,
    "Xu et al. 2013": XU,
}


def anchor(paper: str, number: int) -> str:
    return f"{paper.split()[0].lower()}-{number}"


def linked(text: str, paper: str) -> str:
    """Numbers of equations that are shown, as links to them."""
    shown = {equation.number for equation in EQUATIONS[paper]}

    def link(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"[({number})](#{anchor(paper, number)})" if number in shown else match[0]

    return NUMBER.sub(link, text)


def table(paper: str) -> str:
    rows = [_row(paper, equation) for equation in EQUATIONS[paper]]
    return "\n".join(["| equation | more | as printed, in our notation |", "|---|---|---|", *rows])


def _row(paper: str, equation: Equation) -> str:
    """In a table of Markdown a bar is the end of a cell."""
    latex = equation.latex.replace(r"\|", r"\Vert ")
    if r"\\ " in latex:
        latex = r"\begin{aligned}&" + latex.replace(r"\\ ", r"\\ &") + r"\end{aligned}"
    name, number = equation.page, equation.number
    if name[:2].isdigit():
        page = f"{{doc}}`chapter {int(name[:2])} </chapters/plot_{name}>`"
    else:
        page = f"[`{name}`](formulations/{name}.md)"
    return f"| [({number})]{{#{anchor(paper, number)}}} | {page} | $\\displaystyle {latex}$ |"
