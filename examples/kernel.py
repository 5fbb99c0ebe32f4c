"""Features related up to signs that change from session to session: only a kernel sees it.

Run: python examples/kernel.py
"""

from eigensieve import KernelQAlphaSelector, QAlphaSelector
from eigensieve.datasets import make_hidden_signs

# 12 relevant features of 60; every 8 samples each feature draws a new sign, so that no two features are correlated.
X, _, relevant = make_hidden_signs(0.02, random_state=1)

plain = QAlphaSelector(12).fit(X)
print("plain data    ", relevant[plain.get_support()].sum(), "of 12 relevant")

kernel = KernelQAlphaSelector(12, kernel="sections", section_size=8, normalize="unit").fit(X)
print("section kernel", relevant[kernel.get_support()].sum(), "of 12 relevant")

approximate = KernelQAlphaSelector(
    12, kernel="sections", section_size=8, normalize="unit", n_components=50, random_state=0
).fit(X)
print(
    f"50 columns    {relevant[approximate.get_support()].sum()} of 12 relevant; "
    f"left out of the kernel matrix: {approximate.approximation_error_:.1%} of its trace"
)
