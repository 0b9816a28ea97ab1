/** What the worker bundles: the workflow functions, under the names that clients start. */
export { task } from './task.ts';
export { thread } from './thread.ts';
