/** Commands that need only the store: in a package they and the store are one file (`scripts/build-reader.ts`). */
export { addThreadFiles, addThreadValues } from './thread-files.ts';
export { addThreadList } from './thread-list.ts';
export { addThreadLogs } from './thread-logs.ts';
export { addThreadShow } from './thread-show.ts';
export { addThreadTail } from './thread-tail.ts';
export { addThreadTree } from './thread-tree.ts';
export { addThreads } from './threads.ts';
