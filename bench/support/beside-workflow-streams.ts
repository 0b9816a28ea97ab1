/**
 * Measures the same readers over `@temporalio/workflow-streams`, on a server of the same kind. That pins another
 * version of the SDK, so it is a separate package: `npm install --prefix bench/workflow-streams`, once. If it is not
 * installed, this part is skipped with a message.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Line, quantile } from './report.ts';
import { forgetSettings, startServer } from './rig.ts';

const FOLDER = join(import.meta.dirname, '..', 'workflow-streams');

interface Measured {
  readonly lags: readonly number[];
  readonly cpuMs: number;
  readonly bytes: number;
  /** Number of readers that were refused; `said` has the reason. */
  readonly failed: number;
  readonly said: string;
  /** Number of events in the stream's history. */
  readonly events: number;
}

export interface BesidePace {
  readonly tokens: number;
  readonly paceMs: number;
}

export async function measureWorkflowStreams({ tokens, paceMs }: BesidePace): Promise<Line[]> {
  if (!existsSync(join(FOLDER, 'node_modules'))) {
    console.log('Without @temporalio/workflow-streams: npm install --prefix bench/workflow-streams');
    return [];
  }
  forgetSettings();
  const folder = mkdtempSync(join(tmpdir(), 'everthread-beside-'));
  const server = await startServer('file', folder);
  try {
    const lines: Line[] = [];
    for (const readers of [1, 200]) {
      const asked = [server.address, readers, tokens, paceMs].map(String);
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(FOLDER, 'measure.mjs'), ...asked],
        {
          maxBuffer: 64 * 1024 * 1024,
        },
      );
      // The result is a line among those that its SDK has logged.
      const said = stdout.split('\n').find((line) => line.startsWith('{"lags"')) ?? '{}';
      lines.push(...linesOf(JSON.parse(said) as Measured, { readers, tokens }));
    }
    return lines;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function linesOf(
  { lags, cpuMs, bytes, failed, said, events }: Measured,
  { readers, tokens }: { readonly readers: number; readonly tokens: number },
): Line[] {
  const of = `workflow-streams, ${readers} reader${readers === 1 ? '' : 's'}`;
  const told = failed > 0 ? `${failed} readers were refused: ${said}` : '';
  return [
    { what: `${of}: lag of a token, p50`, value: quantile(lags, 0.5), unit: 'ms', note: `n ${lags.length}` },
    { what: `${of}: lag of a token, p99`, value: quantile(lags, 0.99), unit: 'ms', note: told },
    ...(readers < 100
      ? []
      : [{ what: `${of}: memory per reader`, value: bytes / readers / 1024, unit: 'KiB' }]),
    {
      what: `${of}: processor time per 1,000 chunks`,
      value: (cpuMs / tokens) * 1000,
      unit: 'ms',
      note: 'with publisher and worker',
    },
    { what: `${of}: events of its history`, value: events, unit: 'events' },
  ];
}
