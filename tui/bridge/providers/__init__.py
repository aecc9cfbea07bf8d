"""What is known of the providers, as data (one TOML file each), and what they say of themselves."""
