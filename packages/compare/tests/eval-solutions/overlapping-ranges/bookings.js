/** Returns true if two bookings of a room collide. A booking ends before the next one that starts at its end. */
export function collide(a, b) {
  return a.room === b.room && a.start < b.end && b.start < a.end;
}

/** Adds a booking, or throws if its time is taken. */
export function book(bookings, booking) {
  if (bookings.some((other) => collide(booking, other))) throw new Error("The room is taken.");
  return [...bookings, booking];
}
