package segment

// Fits is fits.
var Fits = fits
