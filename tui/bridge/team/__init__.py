"""A bridge for a team: users with tokens and limits, its log, its figures, its end."""
