"""Program text that studies a region from several sides, for its parts."""


def study(region: int) -> str:
    """The program for one region of the look."""
    return f'studied{region} = shapes[{region}]\n{{"parts": {{"{region}": []}}}}\n'
