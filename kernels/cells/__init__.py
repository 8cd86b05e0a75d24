"""Operations on packed cells, word by word: the random soup, the survey, densities and ages."""

from .contract import ages, densities, fill_soup, scattered, survey

__all__ = ["ages", "densities", "fill_soup", "scattered", "survey"]
