/** Tool loops with the published packages of three majors, against servers that enforce their providers' rules. */
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  FAMILIES,
  type Family,
  type Said,
  type ServedModel,
  serve,
  VERSIONS,
  type Version,
} from './families.ts';
import type { AnthropicBody } from './strict-anthropic.ts';
import { talk } from './talk.ts';

const open: ServedModel[] = [];
afterEach(async () => {
  for (const { server } of open.splice(0)) await server.close();
});

async function begin(family: Family, version: Version, said: readonly Said[]): Promise<ServedModel> {
  const served = await serve(family, version, said);
  open.push(served);
  return served;
}

const LOOP: readonly Said[] = [
  { thoughts: ['First.', '', 'Then.'], text: 'I will add.', calls: [1, 2] },
  { thoughts: ['Once more.'], calls: [3] },
  { thoughts: ['That is it.'], text: 'Six.' },
];
const each = VERSIONS.flatMap((version) => FAMILIES.map((family) => [family, version] as const));
const pairs = each.flatMap(([family, version]) =>
  FAMILIES.filter((other) => other !== family).map((other) => [family, other, version] as const),
);

describe('a tool loop with thinking', () => {
  it.each(each)('continues with %s of AI SDK %i, as does the next turn', async (family, version) => {
    const { model, server } = await begin(family, version, LOOP);
    const { say, step, ends } = talk();
    say('1 + 2 + 3?');
    for (const _ of LOOP) await step(model);
    say('And now?');
    expect(await step(model)).toBe('Done.');
    expect(server.refusals).toEqual([]);
    expect(ends.every(({ outcome }) => outcome.ok)).toBe(true);
  });

  it.each(VERSIONS)(
    'includes the search that Anthropic ran between its thoughts, in AI SDK %i',
    async (version) => {
      const { model, server } = await begin('anthropic', version, [
        { thoughts: ['I will look.'], searches: 'sums', text: 'Adding.', calls: [1] },
      ]);
      const { say, step } = talk();
      say('1 + 2?');
      await step(model);
      await step(model);
      const sent = (server.requests[1] as AnthropicBody).messages[1]?.content ?? [];
      expect(sent.map(({ type }) => type)).toEqual([
        'thinking',
        'server_tool_use',
        'web_search_tool_result',
        'thinking',
        'text',
        'tool_use',
      ]);
      expect(sent[2]).toMatchObject({ content: [{ encrypted_content: 'found' }] });
      expect(server.refusals).toEqual([]);
    },
  );

  it.each(pairs)(
    'of %s continues with %s of AI SDK %i, and then with the first again',
    async (family, other, version) => {
      const first = await begin(family, version, LOOP);
      const second = await begin(other, version, LOOP);
      const { say, step } = talk();
      say('1 + 2 + 3?');
      await step(first.model);
      await step(second.model);
      await step(first.model);
      await step(second.model);
      say('And now?');
      await step(second.model);
      await step(first.model);
      expect([...first.server.refusals, ...second.server.refusals]).toEqual([]);
    },
  );
});
