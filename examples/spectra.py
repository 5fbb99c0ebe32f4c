"""
Wavelengths on spectra
======================

Mixtures of three substances, 700 wavelengths each. Every wavelength is nearly a copy of its neighbours, and baseline
and slope differ from sample to sample. Which wavelengths would a cheap instrument need?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import savgol_filter
from sklearn.feature_selection import f_regression

from eigensieve import SieveSelector

rng = np.random.default_rng(0)
nm = np.arange(1100, 2500, 2)


def band(centre, width):
    return np.exp(-0.5 * ((nm - centre) / width) ** 2)


pure = np.array([band(1200, 30) + band(1730, 25), band(1450, 40) + band(1940, 45), band(2060, 35) + band(2180, 30)])
amounts = rng.uniform(0, 1, (150, 3))
slope = rng.normal(0, 0.3, (150, 1)) * (nm - 1800) / 700
X = amounts @ pure + rng.uniform(0.5, 1.5, (150, 1)) + slope + 0.02 * rng.standard_normal((150, 700))

# %%
# The derivative takes off baseline and slope. Then choose 6 wavelengths without labels, and 4 that predict the first
# substance.

derivative = savgol_filter(X, 21, 2, deriv=1, axis=1)
without = nm[SieveSelector(6).fit(derivative).selection_order_]
predicting = nm[SieveSelector(4).fit(derivative, amounts[:, 0]).selection_order_]

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
above.plot(nm, X[:8].T, color="0.6", linewidth=0.8)
above.set(ylabel="absorbance", title="eight of the 150 spectra")
below.plot(nm, pure.T, label=["substance 1", "substance 2", "substance 3"])
for name, chosen, style in (("without labels", without, ":"), ("for substance 1", predicting, "-")):
    for number, wavelength in enumerate(chosen):
        below.axvline(wavelength, color="0.2", linestyle=style, linewidth=1, label=name if number == 0 else None)
below.set(xlabel="wavelength (nm)", ylabel="absorbance", title="pure substances, and the chosen wavelengths")
below.legend(loc="upper right", fontsize="small")

# %%
# An F-test ranks the same wavelengths one at a time, and takes neighbours of the best one:

best = np.argsort(-f_regression(derivative, amounts[:, 0])[0])[:4]
print("F-test:", *sorted(nm[best]))
print("sieve: ", *sorted(predicting))
