/**
 * The store of a project: EVERTHREAD_STORE, else `.everthread/store.db`.
 * - Only a command that starts something may create a store. For all others a missing store is an error.
 */
import { accessSync, existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { readConfiguration } from '../../configuration.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { isPostgresAddress, readPostgresAddress } from '../../store/postgres/address.ts';
import { explainOpening } from '../../store/sqlite/error.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import {
  type CommandDefinition,
  command,
  type Description,
  type Input,
  type None,
  type Parameters,
  type Result,
} from '../command.ts';
import { commandName } from '../command-name.ts';

/**
 * Opens the store of a project, and always closes it. `create`: the command may be the first one in its project.
 * @throws RuntimeError `ThreadNotFound` if the project has no store yet and the command may not create one.
 */
export async function withStore<T>(
  projectDir: string,
  work: (store: ThreadStore) => Promise<T>,
  create = false,
): Promise<T> {
  const { store: address, encryptionKeys: keys } = readConfiguration();
  if (create) requireProject(projectDir);
  else requireStore(address, projectDir);
  const { openStore } = await import('../../store/open-store.ts');
  const store = await openStore(address, projectDir, { create, keys });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

interface StoreCommand<A, O> extends Description<A, O> {
  /** True if it may be the first command in its project. */
  readonly createStore?: boolean;
  read(store: ThreadStore, input: Input<A, O>): Result;
}

/** A command that needs only the store, which is opened before and closed after it. */
export function storeCommand<A extends Parameters = None, O extends Parameters = None>(
  definition: StoreCommand<A, O>,
): CommandDefinition {
  const { createStore, read } = definition;
  return command({
    ...definition,
    run: (input: Input<A, O>) => withStore(input.project, (store) => read(store, input), createStore),
  });
}

/**
 * Reads a thread that must be in the store.
 * @throws RuntimeError `ThreadNotFound`, also for a deleted thread.
 */
export async function readThread(store: ThreadStore, threadId: string): Promise<ThreadRecord> {
  const thread = await store.threads.get(threadId);
  if (thread && thread.deletedAt === undefined) return thread;
  throw new RuntimeError(
    'ThreadNotFound',
    `Thread "${threadId}" is not in this store. A thread that was just started appears once a worker ("${commandName()} dev") has opened it.`,
  );
}

function requireStore(address: string, projectDir: string): void {
  const file = storeFile(address, projectDir);
  if (file === undefined || !isAbsent(file)) return;
  throw new RuntimeError(
    'ThreadNotFound',
    `There are no threads yet: ${showPath(file)} does not exist. "${commandName()} dev" or a first ` +
      `"${commandName()} threads start AGENT" creates it; EVERTHREAD_STORE or --project names another place.`,
  );
}

/** Throws `InvalidConfiguration` if a store's file could not be created there, either. */
export function isAbsent(file: string): boolean {
  try {
    accessSync(file);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw explainOpening(error, file);
  }
}

/** Throws `InvalidConfiguration` if a command would create the store's file in a folder that is not a project. */
export function requireProject(projectDir: string): void {
  const file = storeFile(readConfiguration().store, projectDir);
  const agents = statSync(join(projectDir, 'agents'), { throwIfNoEntry: false });
  if (agents?.isDirectory() || file === undefined || existsSync(file)) return;
  throw new RuntimeError(
    'InvalidConfiguration',
    `${showPath(projectDir)} is not a project: it has no agents/ folder. Go to the project's folder or name it with --project; ` +
      `"${commandName()} new DIR" creates one.`,
  );
}

/** The file of a store's address; undefined for stores that are not a file. */
export function storeFile(address: string, projectDir: string): string | undefined {
  const path = /^sqlite:([^?]+)/.exec(address)?.[1];
  return path === undefined ? undefined : resolve(projectDir, path);
}

/** An address for display. Throws `InvalidConfiguration` for one that cannot be parsed. */
export function showStore(address: string, projectDir: string): string {
  if (isPostgresAddress(address)) return `PostgreSQL at ${readPostgresAddress(address).place}`;
  const file = storeFile(address, projectDir);
  return file === undefined ? 'the store of EVERTHREAD_STORE' : showPath(file);
}

/** A path relative to the current folder, for display; that folder itself is 'this folder'. */
export function showPath(path: string): string {
  const short = relative(process.cwd(), path);
  if (short === '') return 'this folder';
  return short.startsWith('..') ? path : short;
}
