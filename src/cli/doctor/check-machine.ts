/** Checks that need no server: Node, the project, its store, model keys. */
import { existsSync } from 'node:fs';
import { readConfiguration } from '../../configuration.ts';
import { errorMessage, isRuntimeError } from '../../core/value/error.ts';
import { formatProblems, loadProject, ownToolNames } from '../../definitions/index.ts';
import { chooseWall, ENGINE_ADVICE, findAbsent, WALL_ADVICE } from '../../sandbox/index.ts';
import { openStore } from '../../store/open-store.ts';
import { commandName } from '../command-name.ts';
import { showPath, showStore, storeFile } from '../connection/find-store.ts';
import { escapeControls } from '../output/terminal-text.ts';
import { type Check, fail, ok, warn } from './check.ts';

const ALL = 1_000_000;

/** The command does not run on a Node that is too old: this tells which one runs it (`bin/everthread.js`). */
export function checkNode(): Check {
  return ok('node', `${process.version}, ${process.execPath}`);
}

export async function checkProject(projectDir: string): Promise<Check> {
  const { registry, problems, warnings } = await loadProject(projectDir);
  if (problems.length > 0) {
    const next = `Fix these; "${commandName()} validate" checks again.`;
    return fail('project', `definitions have problems:\n${escapeControls(formatProblems(problems))}`, next);
  }
  const found = `agents ${[...registry.agents.keys()].join(', ') || 'none'}; tools ${ownToolNames(registry).join(', ') || 'none'}`;
  if (registry.agents.size === 0) return warn('project', found, 'Put an agent into agents/agents/.');
  if (warnings.length > 0)
    return warn('project', `${found}\n${escapeControls(formatProblems(warnings))}`, 'Check the warnings.');
  return ok('project', found);
}

/** Also returns the store's id, which is part of every worker's identity. */
export async function checkStore(projectDir: string): Promise<{ check: Check; storeId?: string }> {
  const address = readConfiguration().store;
  const file = storeFile(address, projectDir);
  const missing = (place: string) => {
    const next = `"${commandName()} dev" creates it; if it should exist, check --project and EVERTHREAD_STORE.`;
    return { check: warn('store', `${place} does not exist yet`, next) };
  };
  if (file !== undefined && !existsSync(file)) return missing(showPath(file));
  try {
    const store = await openStore(address, projectDir, { create: false });
    try {
      const { length } = await store.threads.list({ limit: ALL });
      const place = file === undefined ? store.place : showPath(file);
      return {
        check: ok('store', `${place}, ${length} ${length === 1 ? 'thread' : 'threads'}, id ${store.id}`),
        storeId: store.id,
      };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isRuntimeError(error, 'ThreadNotFound'))
      return missing(`the store in ${showStore(address, projectDir)}`);
    const next = 'Check EVERTHREAD_STORE and the permissions to read and write there.';
    // A database server's error already has the address, the reason and the remedy.
    const found =
      file === undefined ? errorMessage(error) : `${showPath(file)} cannot be opened: ${errorMessage(error)}`;
    return { check: fail('store', found, next) };
  }
}

/** Checks only whether keys are set: a key is never printed. */
export function checkKeys(env: NodeJS.ProcessEnv = process.env): Check {
  if (env.OPENAI_API_KEY) return ok('model key', 'OPENAI_API_KEY is set');
  if (env.OPENAI_BASE_URL) return ok('model key', 'OPENAI_BASE_URL is set, without a key');
  return warn(
    'model key',
    'OPENAI_API_KEY is not set',
    'Models of openaiCompatible() without their own key need it, in the environment of the worker.',
  );
}

/** Checks the isolation of model-written programs, by a probe and not by what is installed. */
export async function checkSandbox(): Promise<Check> {
  const absent = findAbsent();
  if (absent !== undefined) return warn('sandbox', `no code can run here: ${absent}`, ENGINE_ADVICE);
  try {
    const { kind, holds, seccomp, missing } = await chooseWall(readConfiguration().sandboxWall);
    const why = missing.map((better) => `${better.kind}: ${better.why}`).join('; ');
    if (kind === 'none') {
      const reason = why || 'EVERTHREAD_SANDBOX_WALL is "none"';
      return warn('sandbox', `only Node's permission model, no wall of the kernel (${reason})`, WALL_ADVICE);
    }
    const found = `${kind}${seccomp ? ' with a filter of system calls' : ''}; a probe confirmed the protection of ${holds.join(', ')}`;
    if (kind === 'bubblewrap') return ok('sandbox', found);
    return ok('sandbox', `${found}; bubblewrap would filter system calls too (${why || 'not requested'})`);
  } catch (error) {
    return fail('sandbox', errorMessage(error), WALL_ADVICE);
  }
}
