/** The commands that need the store alone: in a package these are one file with it (`scripts/build-reader.ts`). */
export { addThreadFiles, addThreadValues } from './thread-files.ts';
export { addThreadList } from './thread-list.ts';
export { addThreadLogs } from './thread-logs.ts';
export { addThreadShow } from './thread-show.ts';
export { addThreadTail } from './thread-tail.ts';
export { addThreadTree } from './thread-tree.ts';
export { addThreads } from './threads.ts';
