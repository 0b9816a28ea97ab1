/** Layout of the memory shared by the host's main thread and its sentry: what is watched, as numbers of 32 bits. */

/** Index of a counter that changes whenever something else is to be watched. */
export const SIGNAL = 0;
/** Length of a child's place, and index of the first place. */
export const PLACE_LENGTH = 4;
/** Offset of the child's process id on the host; 0 if the place is free. */
export const PROCESS = 0;
/** Offset of the id of the process to kill so that all of the child ends. */
export const VICTIM = 1;
/** Offset of the limit of the resident set in KiB; 0 while there is no run. */
export const BOUND = 2;
/** Offset of a flag: 1 once the child was killed for its memory. */
export const TRIPPED = 3;

export const MAX_CHILDREN = 1024;
