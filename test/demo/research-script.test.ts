/** The coordinator's script: researchers on a busy machine report in any order. */
import { describe, expect, it } from '@jest/globals';
import { followResearch } from '../../agents/models/_research.ts';
import type { Messages } from '../../agents/models/_turn.ts';

const system = { role: 'system', content: 'You coordinate research.' } as const;
const asked = { role: 'user', content: 'Who pays? Who leads?' } as const;
const sentOut: Messages = [
  {
    role: 'assistant',
    content: '',
    toolCalls: ['ana', 'ben'].map((id) => ({ id, name: 'subagent_create', arguments: {} })),
  },
  ...['ana', 'ben'].map((id) => ({
    role: 'tool' as const,
    toolCallId: id,
    toolName: 'subagent_create',
    content: `The subagent has started. Reference: researcher-${id}`,
  })),
];
const report = (id: string) =>
  ({ role: 'user', content: `Subagent (reference: researcher-${id})\n\n${id} knows.` }) as const;
const follow = (...told: Messages) =>
  followResearch({ messages: [system, asked, ...sentOut, ...told] } as unknown as Parameters<
    typeof followResearch
  >[0]);

describe('the script of the coordinator', () => {
  it('drafts one brief, whichever researcher reports first', () => {
    const first = follow(report('ana'), report('ben'));
    expect(JSON.stringify(first)).toContain('1. ana knows.\\n2. ben knows.');
    expect(follow(report('ben'), report('ana'))).toEqual(first);
  });
});
