/** The commands of `everthread threads`, for `command-table.ts`. */
import { GROUP, type ListedCommand } from './listed-command.ts';

const loadSend = () => import('./commands/thread-send.ts');
const loadEnd = () => import('./commands/thread-end.ts');
const loadReading = () => import('./commands/reading.ts');

export const THREADS: readonly ListedCommand[] = [
  {
    name: 'start',
    usage: '<agent> [text]',
    summary: 'start a thread of an agent',
    load: async () => (await import('./commands/thread-start.ts')).addThreadStart,
  },
  {
    name: 'send',
    usage: '<thread> [text]',
    summary: 'send a thread a message',
    load: async () => (await loadSend()).addThreadSend,
  },
  {
    name: 'tool',
    usage: '<thread> <name> [arguments]',
    summary: 'have a thread run a tool',
    load: async () => (await loadSend()).addThreadTool,
  },
  {
    name: 'show',
    usage: '<thread>',
    reads: true,
    summary: "show a thread's status and messages",
    load: async () => (await loadReading()).addThreadShow,
  },
  {
    name: 'tail',
    usage: '<thread>',
    reads: true,
    summary: 'follow what a thread does',
    load: async () => (await loadReading()).addThreadTail,
  },
  {
    name: 'files',
    usage: '<thread> [path]',
    reads: true,
    summary: 'list the files of a thread, or print one',
    load: async () => (await loadReading()).addThreadFiles,
  },
  {
    name: 'upload',
    usage: '<thread> <path> [file]',
    summary: 'write a file of a thread',
    load: async () => (await import('./commands/thread-upload.ts')).addThreadUpload,
  },
  {
    name: 'values',
    usage: '<thread> [key]',
    reads: true,
    summary: 'list the values of a thread, or print one',
    load: async () => (await loadReading()).addThreadValues,
  },
  {
    name: 'effects',
    usage: `${GROUP} <thread>`,
    summary: 'list the effects that a thread has scheduled, or cancel one',
    load: async () => (await import('./commands/thread-effects.ts')).addThreadEffects,
  },
  {
    name: 'logs',
    usage: '<thread>',
    reads: true,
    summary: 'model calls with tokens and cost, tool calls, executions',
    load: async () => (await loadReading()).addThreadLogs,
  },
  {
    name: 'list',
    reads: true,
    summary: 'list threads, the latest first',
    load: async () => (await loadReading()).addThreadList,
  },
  {
    name: 'tree',
    usage: '<thread>',
    reads: true,
    summary: 'show a thread with its subagents',
    load: async () => (await loadReading()).addThreadTree,
  },
  {
    name: 'stop',
    usage: '<thread>',
    summary: 'stop what a thread is doing now',
    load: async () => (await loadEnd()).addThreadStop,
  },
  {
    name: 'continue',
    usage: '<thread>',
    summary: 'let a thread continue without another message',
    load: async () => (await loadEnd()).addThreadContinue,
  },
  {
    name: 'cancel',
    usage: '<thread>',
    summary: 'cancel an execution of a thread',
    load: async () => (await loadEnd()).addThreadCancel,
  },
  {
    name: 'terminate',
    usage: '<thread>',
    summary: 'terminate a thread permanently',
    load: async () => (await loadEnd()).addThreadTerminate,
  },
  {
    name: 'delete',
    usage: '<thread>',
    summary: 'terminate a thread and delete its data',
    load: async () => (await loadEnd()).addThreadDelete,
  },
  {
    name: 'export',
    usage: '<thread>',
    summary: 'write a thread or its Temporal history as JSON',
    load: async () => (await import('./commands/thread-export.ts')).addThreadExport,
  },
];
