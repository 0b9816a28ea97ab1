/** The entry of the workflow bundle: the workflow functions, under the names by which clients start them. */
export { task } from './task.ts';
export { thread } from './thread.ts';
