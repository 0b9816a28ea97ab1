/** `everthread threads …`: the group of commands for single threads, which `command-table.ts` lists. */
import type { Command } from 'commander';
import { GROUPS } from '../command.ts';

export function addThreads(program: Command): void {
  program
    .command('threads')
    .alias('thread')
    .helpGroup(GROUPS.talk)
    .summary('start threads, talk to them, read them: see "everthread threads --help"')
    .description('Threads are conversations with agents: durable, one id each.');
}
