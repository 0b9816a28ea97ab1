/**
 * The `.env` of a project: it sets variables for the project's models, none of Everthread, Temporal, PostgreSQL or
 * Node.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { envFileText, readEnvFile } from '../../src/cli/project/env-file.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everthread-env-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('sets what the shell has not set, and names it without its value', () => {
  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY="sk-secret" # mine\nOPENAI_MODEL=small\nOWN=\n');
  const environment: NodeJS.ProcessEnv = { OPENAI_MODEL: 'large' };
  const read = readEnvFile(folder, environment);
  expect(environment).toEqual({ OPENAI_API_KEY: 'sk-secret', OPENAI_MODEL: 'large', OWN: '' });
  expect(read).toMatchObject({ taken: ['OPENAI_API_KEY', 'OWN'], kept: ['OPENAI_MODEL'], refused: [] });
  expect(read && envFileText(read)).toMatch(
    /^Read \S+\.env: OPENAI_API_KEY, OWN\. Already set and kept: OPENAI_MODEL\.$/,
  );
});

it('gives nothing to Everthread, Temporal, PostgreSQL and Node, and says so', () => {
  const names = ['EVERTHREAD_STORE', 'NODE_OPTIONS', 'PGPASSWORD', 'TEMPORAL_ADDRESS'];
  writeFileSync(join(folder, '.env'), names.map((name) => `${name}=x`).join('\n'));
  const environment: NodeJS.ProcessEnv = {};
  const read = readEnvFile(folder, environment);
  expect(environment).toEqual({});
  expect(read?.refused).toEqual(names);
  expect(read && envFileText(read)).toContain(`set them in the shell: ${names.join(', ')}`);
});

it('is not there where it is a folder, as some tools make one', () => {
  expect(readEnvFile(folder, {})).toBeUndefined();
  mkdirSync(join(folder, '.env'));
  expect(readEnvFile(folder, {})).toBeUndefined();
});
