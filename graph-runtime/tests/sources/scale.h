#pragma once
struct Weights {
    float slope;
    float shift;
};
