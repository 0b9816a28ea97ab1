/** The call stack that the Web UI shows of a thread: it must equal the SDK's, but is formatted only on request. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const PROGRAM = join(import.meta.dirname, '..', 'support', 'stacks-program.ts');

interface Answer {
  readonly text: string;
  readonly stacks: readonly { readonly locations: readonly unknown[] }[];
}

interface Told {
  readonly formattedUnasked: number;
  readonly answers: Readonly<Record<'amidStep' | 'stopping' | 'evaluated', Answer>>;
}

async function tell(keeper: 'ours' | 'sdk'): Promise<Told> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, keeper]);
  return JSON.parse(stdout);
}

const [ours, sdk] = await Promise.all([tell('ours'), tell('sdk')]);

describe('the stacks of pending promises of a thread', () => {
  it('are formatted on request only', () => {
    expect(sdk.formattedUnasked).toBeGreaterThan(50);
    expect(ours.formattedUnasked).toBe(0);
  });

  it('name the locations in our sources', () => {
    const { text, stacks } = ours.answers.amidStep;
    expect(text).toMatch(/at stepCycle \(.*workflows\/step-cycle\.ts:\d+:\d+\)/);
    expect(stacks.flatMap(({ locations }) => locations)).toContainEqual(
      expect.objectContaining({
        file_path: expect.stringMatching(/workflows\/step-cycle\.ts$/),
        function_name: 'stepCycle',
      }),
    );
  });

  it.each(['amidStep', 'stopping', 'evaluated'] as const)('equal those of the SDK, %s', (moment) => {
    const [our, its] = [ours.answers[moment], sdk.answers[moment]];
    expect(our.text).toBe(its.text);
    // The SDK's list continues with frames of its own.
    const shortened = its.stacks.map(({ locations }, index) => ({
      locations: locations.slice(0, our.stacks[index]?.locations.length),
    }));
    expect(our.stacks).toEqual(shortened);
    for (const { locations } of our.stacks) expect(locations).not.toEqual([]);
  });
});
