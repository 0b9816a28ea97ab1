/** Whose turn it is in a session of two AI sides (definitions §12.3, §12.5). */
import { describe, expect, it } from '@jest/globals';
import type { Side } from '../../src/core/author/thread-execution.ts';
import {
  advanceSession,
  answeringSide,
  findAnswering,
  NEW_SESSION,
  roleOf,
  type Session,
  type StepEnding,
} from '../../src/core/thread/session.ts';

const at = (side: Side, turns: number): Session => ({ side, turns });
const verdict = (ends: StepEnding['ends'], turn: boolean): StepEnding => ({ ends, turn });

describe('[definitions 12.5] a session', () => {
  it.each<[string, Session, Side, StepEnding, Session]>([
    ['continues with the same side within a turn', at('a', 2), 'a', verdict('nothing', false), at('a', 2)],
    ['gives the turn to the other side', at('a', 2), 'a', verdict('turn', true), at('b', 3)],
    ['and back', at('b', 3), 'b', verdict('turn', true), at('a', 4)],
    ['counts a turn that a limit ended', at('b', 3), 'b', verdict('execution', true), at('a', 4)],
    ['continues where a limit interrupted a turn', at('b', 3), 'b', verdict('execution', false), at('b', 3)],
    ['starts again after it ended', at('b', 9), 'b', verdict('session', true), NEW_SESSION],
    ['follows who acted, whoever was expected', at('a', 1), 'b', verdict('turn', true), at('a', 2)],
  ])('%s', (_what, session, acted, given, next) => {
    expect(advanceSession(session, acted, given)).toEqual(next);
  });

  it.each<[Side]>([['a'], ['b']])('answers a message of side %s by the other side', (side) => {
    expect(answeringSide(roleOf(side))).not.toBe(side);
  });

  it.each<[readonly string[], Side | undefined]>([
    [['user', 'assistant'], 'a'],
    [['assistant', 'user'], 'b'],
    [['system', 'assistant'], 'b'],
    [['system'], undefined],
    [[], undefined],
  ])('[definitions 22.40] with queued items of %j continues with side %s', (roles, side) => {
    expect(findAnswering(roles)).toBe(side);
  });
});
