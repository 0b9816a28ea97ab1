/** The limits of the newest execution, how far each is used up, and by which members of the family. */

import { toFragment } from '../address.ts';
import { CommandLine } from '../parts/act-button.tsx';
import { Loaded, useLoad } from '../parts/loaded.tsx';
import { everthread } from '../session/commands.ts';
import { ask } from '../session/session.ts';
import { count, money } from '../text.ts';
import type { TabProps } from './tab.ts';

const NAMES: Readonly<Record<string, string>> = {
  maxSteps: 'steps',
  maxLlmCalls: 'model calls',
  maxToolCalls: 'tool calls',
  maxInputTokens: 'input tokens',
  maxOutputTokens: 'output tokens',
  maxCost: 'cost',
  maxRuntimeSeconds: 'seconds of work',
  familyCalls: 'model calls of the family',
};

const amount = (limit: string, n: number) =>
  limit === 'maxCost' ? money(n) : count(Math.round(n * 10) / 10);

export function Budget({ reading }: TabProps) {
  const { threadId } = reading;
  const load = useLoad(
    () => ask('GET /v1/threads/{threadId}/budget', { threadId }),
    [threadId, reading.thread.value?.updatedAt],
  );
  return (
    <Loaded load={load}>
      {({ lines, members }) => {
        return (
          <>
            {lines.length === 0 && <p class="faint">Nothing limits this thread.</p>}
            {lines.map((line) => (
              <label key={line.threadId + line.limit} class="budget">
                <span>
                  {NAMES[line.limit] ?? line.limit}
                  {line.threadId !== threadId && <span class="faint"> of an ancestor</span>}
                </span>
                <span class="number">
                  {amount(line.limit, line.used)} of {amount(line.limit, line.max)}
                  {line.reserved > 0 && ` (${amount(line.limit, line.reserved)} reserved)`}
                </span>
                <meter min={0} max={line.max} high={line.warnAt} value={line.used + line.reserved} />
              </label>
            ))}
            {members.length > 0 && (
              <table>
                <thead>
                  <tr>
                    <th>Member of the family</th>
                    <th>Steps</th>
                    <th>Tokens</th>
                    <th>Cost</th>
                  </tr>
                </thead>
                <tbody>
                  {members.map((member) => (
                    <tr key={member.threadId}>
                      <td>
                        <a href={toFragment({ view: 'thread', threadId: member.threadId })}>
                          <bdi>{member.agent}</bdi>
                        </a>
                      </td>
                      <td class="number">{member.steps}</td>
                      <td class="number">
                        {count(member.inputTokens)} in, {count(member.outputTokens)} out
                      </td>
                      <td class="number">{money(member.costUsd)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            <CommandLine usual={everthread('threads', 'show', threadId)} />
          </>
        );
      }}
    </Loaded>
  );
}
