"""Q-alpha: feature weights from the spectrum of the weighted affinity (Wolf and Shashua, 2003 and 2005)."""
