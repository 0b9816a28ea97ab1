/** Where the host's main thread and its sentry keep what is watched: numbers of 32 bits in shared memory. */

/** Changed whenever something else is to be watched. */
export const SIGNAL = 0;
/** The length of a child's place, and the first of them. */
export const PLACE = 4;
/** The child's process in the host's own numbers; 0 when the place is free. */
export const PROCESS = 0;
/** Whom to kill, so that all of the child ends. */
export const VICTIM = 1;
/** KiB of resident set; 0 while no run is under way. */
export const BOUND = 2;
/** 1 once it was killed for its memory. */
export const TRIPPED = 3;

export const MOST_CHILDREN = 1024;
