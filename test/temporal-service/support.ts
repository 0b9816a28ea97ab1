/** Folders, fake programs and child processes for the tests of src/temporal-service. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

export const SOURCES = new URL('../../src/temporal-service/', import.meta.url);

const folders: string[] = [];

/** A new folder, which removeFolders() deletes. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'everthread-local-server-test-'));
  folders.push(folder);
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function writeProgram(path: string, ...lines: string[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
  return path;
}

/** A program that only reports its version. */
export function writeFakeTemporal(path: string, server: string): string {
  return writeProgram(path, `echo "temporal version 9.9.9 (Server ${server}, UI 2.0.0)"`);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export interface Script {
  process: ChildProcess;
  /** Everything that the script has written so far. */
  output(): string;
}

/**
 * Ends the script when the test process is gone, so that an interrupted run leaves nothing behind. Does not keep the
 * script alive.
 */
const END_WITH_TESTS = `process.stdin.on('end', () => process.exit()).resume().unref();`;

/** Runs an ES module's text in a separate process; `SOURCES` in it stands for the folder of the code under test. */
export function runScript(text: string): Script {
  const source = text.replaceAll('SOURCES/', SOURCES.href);
  const child = spawn(process.execPath, [
    ...PROGRAM_OPTIONS,
    '--input-type=module',
    '-e',
    `${END_WITH_TESTS}\n${source}`,
  ]);
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return { process: child, output: () => output };
}
