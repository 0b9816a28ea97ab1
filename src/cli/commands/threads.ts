/** `everthread threads …`: the group of commands for single threads. */
import type { Command } from 'commander';
import { type Cli, GROUPS } from '../command.ts';
import { addThreadEffects } from './thread-effects.ts';
import {
  addThreadCancel,
  addThreadContinue,
  addThreadDelete,
  addThreadStop,
  addThreadTerminate,
} from './thread-end.ts';
import { addThreadExport } from './thread-export.ts';
import { addThreadFiles, addThreadValues } from './thread-files.ts';
import { addThreadLogs } from './thread-logs.ts';
import { addThreadList, addThreadShow, addThreadTail } from './thread-read.ts';
import { addThreadSend, addThreadTool } from './thread-send.ts';
import { addThreadStart } from './thread-start.ts';
import { addThreadTree } from './thread-tree.ts';
import { addThreadUpload } from './thread-upload.ts';

export function addThreads(program: Command, cli: Cli): void {
  const threads = program
    .command('threads')
    .alias('thread')
    .helpGroup(GROUPS.talk)
    .summary('start threads, talk to them, read them: see "everthread threads --help"')
    .description('Threads are conversations with agents: durable, one id each.');
  addThreadStart(threads, cli);
  addThreadSend(threads, cli);
  addThreadTool(threads, cli);
  addThreadShow(threads, cli);
  addThreadTail(threads, cli);
  addThreadFiles(threads, cli);
  addThreadUpload(threads, cli);
  addThreadValues(threads, cli);
  addThreadEffects(threads, cli);
  addThreadLogs(threads, cli);
  addThreadList(threads, cli);
  addThreadTree(threads, cli);
  addThreadStop(threads, cli);
  addThreadContinue(threads, cli);
  addThreadCancel(threads, cli);
  addThreadTerminate(threads, cli);
  addThreadDelete(threads, cli);
  addThreadExport(threads, cli);
}
