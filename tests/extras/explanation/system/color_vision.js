// How different two colours look, to normal sight and if one kind of cone does not work.
// Colours are [red, green, blue], 0 to 255.

// The matrices of Machado, Oliveira and Fernandes (2009), table 1, severity 1.0, for linear RGB.
const kSights = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
// From linear sRGB to CIE XYZ, divided by the white of D65.
const kXyz = [
  [0.4124564 / 0.95047, 0.3575761 / 0.95047, 0.1804375 / 0.95047],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339 / 1.08883, 0.119192 / 1.08883, 0.9503041 / 1.08883],
];

const times = (matrix, vector) =>
  matrix.map(row => row.reduce((sum, value, i) => sum + value * vector[i], 0));
const linear = rgb =>
  rgb.map(value => value / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));

const labOf = (rgb, sight) => {
  const seen = times(kSights[sight], linear(rgb)).map(v => Math.min(1, Math.max(0, v)));
  const [x, y, z] = times(kXyz, seen).map(v =>
    v > 216 / 24389 ? Math.cbrt(v) : ((24389 / 27) * v + 16) / 116,
  );
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};

exports.SIGHTS = Object.keys(kSights);

// CIE76: the distance in CIELAB. About 2.3 can just be seen side by side.
exports.distance = (a, b, sight) => {
  const [one, other] = [labOf(a, sight), labOf(b, sight)];
  return Math.hypot(...one.map((value, i) => value - other[i]));
};

// WCAG 2: the ratio of contrast.
exports.contrast = (a, b) => {
  const [dark, light] = [a, b].map(rgb => times(kXyz, linear(rgb))[1]).sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
};
