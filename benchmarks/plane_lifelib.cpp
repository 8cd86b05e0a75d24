// Moves a pattern on in lifelib's tiles of 28 x 28 cells, and prints the processor's seconds and
// the population. benchmarks/plane.py compiles this against lifelib's sources.
#include "upattern.h"

#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

int main(int count, char** arguments) {
    if (count != 3) return 2;
    std::ifstream file(arguments[1]);
    std::stringstream text;
    text << file.rdbuf();
    apg::upattern<apg::VTile28, 28> universe;
    universe.insertPattern(text.str());
    const std::clock_t start = std::clock();
    universe.advance(0, 0, std::stoull(arguments[2]));
    const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    std::cout << seconds << " " << universe.totalPopulation() << std::endl;
}
