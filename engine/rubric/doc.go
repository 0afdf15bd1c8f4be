package rubric
