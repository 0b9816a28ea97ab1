/**
 * The beginning of a thread's id stands for the whole, wherever a command wants one.
 * C1. An id that a thread has is taken as it is, and so is one that no thread begins with: the thread may be on its way to the store.
 */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { readConfiguration } from '../../configuration.ts';
import { isMadeId } from '../../core/thread/thread-id.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { storeFile, withStore } from './find-store.ts';

/** As ids were made before: such an id is complete, and costs no look. */
const WHOLE = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const SHORTEST = 4;

/**
 * Before a command runs: puts the whole id in place of its beginning.
 * @throws RuntimeError `InvalidRequest` where several threads begin like that.
 */
export async function completeThread(command: Command): Promise<void> {
  const project: string | undefined = command.opts().project;
  if (project === undefined) return;
  const index = command.registeredArguments.findIndex((argument) => argument.name() === 'thread');
  const argument: unknown = command.processedArgs[index];
  if (typeof argument === 'string') command.processedArgs[index] = await complete(project, argument);
  const option: unknown = command.opts().thread;
  if (typeof option === 'string') command.setOptionValue('thread', await complete(project, option));
}

async function complete(project: string, id: string): Promise<string> {
  if (id.length < SHORTEST || WHOLE.test(id) || isMadeId(id) || !hasStore(project)) return id;
  const found = await withStore(project, async ({ threads }) => {
    if (await threads.get(id)) return [id];
    return (await threads.list({ idPrefix: id, limit: 2 })).map((thread) => thread.id);
  });
  if (found.length < 2) return found[0] ?? id;
  throw new RuntimeError(
    'InvalidRequest',
    `More than one thread begins with "${id}": ${found.join(', ')}. Give more of it.`,
  );
}

function hasStore(project: string): boolean {
  const file = storeFile(readConfiguration().store, project);
  return file === undefined || existsSync(file);
}
