"""How a question is understood: from SQL, or from a builder, to what may be asked and is provably bounded."""
