/** Returns true if two bookings of a room collide. A booking ends before the next one that starts at its end. */
export function collide(a, b) {
  if (a.room !== b.room) return false;
  return (a.start >= b.start && a.start < b.end) || (a.end > b.start && a.end <= b.end);
}

/** Adds a booking, or throws if its time is taken. */
export function book(bookings, booking) {
  if (bookings.some((other) => collide(booking, other))) throw new Error("The room is taken.");
  return [...bookings, booking];
}
