"""The recommended selection: graph embedding, scores, greedy pick without near-copies."""
