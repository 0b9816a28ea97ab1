/** What starts OpenTelemetry in a project's processes: its file, else the SDK that it has installed, if an endpoint is set. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { PROGRAM_OPTIONS } from '../support/program-options.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAM = join(ROOT, 'test', 'support', 'otel-process.ts');
const NOWHERE = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };

/** A project with these files; `installed`: with the packages of this repository. */
function project(files: Readonly<Record<string, string>>, installed = false): string {
  const folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER as string, 'otel-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  if (installed) {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(ROOT, 'node_modules', '@opentelemetry'), join(folder, 'node_modules', '@opentelemetry'));
  }
  return folder;
}

async function start(folder: string, env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await promisify(execFile)(process.execPath, [...PROGRAM_OPTIONS, PROGRAM, folder], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) as string) as { started: string; isRecording: boolean };
}

describe('OpenTelemetry in a process of a project', () => {
  it('is started by the file of the project, also if an endpoint is set', async () => {
    const file = `
      import { NodeSDK } from '@opentelemetry/sdk-node';
      import { ThreadIdGenerator } from 'everthread/otel';
      new NodeSDK({ idGenerator: new ThreadIdGenerator() }).start();
    `;
    const folder = project({ 'otel.ts': file, 'package.json': '{"type":"module"}' }, true);
    expect(await start(folder, NOWHERE)).toEqual({ started: 'file', isRecording: true });
  });

  it('is started with the installed SDK if an endpoint is set, and with none otherwise', async () => {
    const folder = project({}, true);
    expect(await start(folder, NOWHERE)).toEqual({ started: 'sdk', isRecording: true });
    expect(await start(folder)).toEqual({ started: 'nothing', isRecording: false });
    expect(await start(project({}), NOWHERE)).toEqual({ started: 'nothing', isRecording: false });
  });

  it('stops the process, naming the file, if the file of the project fails', async () => {
    const folder = project({ 'otel.mjs': `throw new Error('no exporter');` });
    const { started } = await start(folder);
    expect(started).toMatch(/^InvalidConfiguration: .*otel\.mjs cannot be loaded.*no exporter/);
  });
});
