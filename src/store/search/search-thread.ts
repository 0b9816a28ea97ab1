/** The thread in which patterns run: one search, file after file, one answer to each message. */
import { parentPort } from 'node:worker_threads';
import { LineSearch } from './line-search.ts';
import type { FromSearchThread, ToSearchThread } from './protocol.ts';

let search: LineSearch | undefined;

parentPort?.on('message', (message: ToSearchThread) => {
  let answer: FromSearchThread = null;
  if (message.kind === 'pattern') search = new LineSearch(message.pattern);
  else answer = search?.take(message.data, message.isLast) ?? null;
  parentPort?.postMessage(answer);
});
