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

it('sets variables missing in the shell, and names them without values', () => {
  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY="sk-secret" # mine\nOPENAI_MODEL=small\nOWN=\n');
  const environment: NodeJS.ProcessEnv = { OPENAI_MODEL: 'large' };
  const read = readEnvFile(folder, environment);
  expect(environment).toEqual({ OPENAI_API_KEY: 'sk-secret', OPENAI_MODEL: 'large', OWN: '' });
  expect(read).toMatchObject({ taken: ['OPENAI_API_KEY', 'OWN'], kept: ['OPENAI_MODEL'], refused: [] });
  expect(read && envFileText(read)).toMatch(
    /^Read \S+\.env: OPENAI_API_KEY, OWN\. Already set and kept: OPENAI_MODEL\.$/,
  );
});

it('ignores variables of Everthread, Temporal, PostgreSQL and Node, and reports that', () => {
  const names = ['EVERTHREAD_STORE', 'NODE_OPTIONS', 'PGPASSWORD', 'TEMPORAL_ADDRESS'];
  writeFileSync(join(folder, '.env'), names.map((name) => `${name}=x`).join('\n'));
  const environment: NodeJS.ProcessEnv = {};
  const read = readEnvFile(folder, environment);
  expect(environment).toEqual({});
  expect(read?.refused).toEqual(names);
  expect(read && envFileText(read)).toContain(`set them in the shell: ${names.join(', ')}`);
});

it('is ignored if it is a directory, as some tools create', () => {
  expect(readEnvFile(folder, {})).toBeUndefined();
  mkdirSync(join(folder, '.env'));
  expect(readEnvFile(folder, {})).toBeUndefined();
});
