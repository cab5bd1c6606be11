"""LLM work: prompt sets, the gateway to any OpenAI-compatible endpoint, jobs and units, the ledger of calls."""
