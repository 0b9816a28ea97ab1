/** What the worker bundles: the workflow functions, under the names that clients start. */
export { thread } from './thread.ts';
