"""Families of language models, by who made the first of them: of models that wrote answers, and of those that judge."""

# By the word of files: what pages call it. Which family a model is of is never guessed from its name.
FAMILIES = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google",
    "meta": "Meta",
    "qwen": "Qwen",
    "mistral": "Mistral",
    "other": "another family",
}
UNKNOWN = "unknown"  # what a file may say instead of nothing
