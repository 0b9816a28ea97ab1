/** Commands that need only the store: in a package they and the store are one file (`scripts/build-reader.ts`). */
export { threadFiles, threadUpload, threadValues } from './thread-files.ts';
export { threadList, threadTree } from './thread-list.ts';
export { threadLogs } from './thread-logs.ts';
export { threadRequest } from './thread-request.ts';
export { threadShow } from './thread-show.ts';
export { threadTail } from './thread-tail.ts';
