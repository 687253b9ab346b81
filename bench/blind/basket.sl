# What a contract on three shares is worth by the logarithms of their prices, backwards in time: it pays steadily (pay, a year) while prices stay in the box, and what stands at the
# box's faces when one leaves it. Prices walk to a neighbour by chances of their own, across an edge where two shares move together or against each other; a step is a hundredth of a year.
# Source: Kushner and Dupuis, "Numerical Methods for Stochastic Control Problems in Continuous Time" (2001), chapter 5, chances of a chain with correlated noise, and
# chapter 12, explicit in time; Black and Scholes, "The pricing of options and corporate liabilities" (1973), the walk of prices and their drift.
NumDimensions 3
StencilSize (1, 1, 1)
DataType float
Fields (v)
ReadOnly (pay)
Boundary fixed
DefaultSize (440, 400, 384)
Steps 1000
InputRange v (0, 2)
InputRange pay (0, 0.1)
const float dt = 0.01;
const float h = 0.05;
const float rate = 0.05;
# Variances a year, and covariances: the first share moves with the second and against the third.
const float a11 = 0.04, a22 = 0.09, a33 = 0.0625, a12 = 0.018, a13 = 0.01, a23 = 0.015;
const float k = dt / (h * h);
# Half of what the own noise leaves, both ways; upwind, the drift of rate - variance / 2 adds one way.
const float low1 = k * (a11 - a12 - a13) / 2, high1 = low1 + dt / h * (rate - a11 / 2);
const float low2 = k * (a22 - a12 - a23) / 2, high2 = low2 + dt / h * (rate - a22 / 2);
const float low3 = k * (a33 - a13 - a23) / 2, high3 = low3 + dt / h * (rate - a33 / 2);
const float stay = 1 - low1 - high1 - low2 - high2 - low3 - high3 - k * (a12 + a13 + a23);
const float discount = 1 / (1 + rate * dt);
CellValue {
  float next = stay * get(v, 0, 0, 0) + low1 * get(v, -1, 0, 0) + high1 * get(v, 1, 0, 0) + low2 * get(v, 0, -1, 0) + high2 * get(v, 0, 1, 0)
      + low3 * get(v, 0, 0, -1) + high3 * get(v, 0, 0, 1)
      + k * a12 / 2 * (get(v, -1, -1, 0) + get(v, 1, 1, 0)) + k * a13 / 2 * (get(v, -1, 0, 1) + get(v, 1, 0, -1)) + k * a23 / 2 * (get(v, 0, -1, -1) + get(v, 0, 1, 1));
  return discount * next + dt * get(pay, 0, 0, 0);
}
