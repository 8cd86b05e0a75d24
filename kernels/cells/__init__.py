"""Operations on packed cells, word by word: the random soup, the survey, densities and ages."""

from .contract import HIGHEST, ages, climb, densities, fill_soup, live_type, scattered, survey

__all__ = ["HIGHEST", "ages", "climb", "densities", "fill_soup", "live_type", "scattered", "survey"]
