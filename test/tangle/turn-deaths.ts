/**
 * Workers that die during chat turns, and while a closure of another process answers one. `together`: turns are at all
 * places at once when their worker is killed, while the closure streams. `each`: for each place a worker dies at the
 * moment when a turn reaches it.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clientBox, handleChatTurn } from '../../src/faces/tangle/index.ts';
import { says } from '../../src/testing/index.ts';
import { collect } from '../projections/golden.ts';
import type { Manner } from '../support/doomed-cluster.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import type { DeathPoint } from '../support/fault-project.ts';
import { PATIENCE } from '../support/killing.ts';
import { killWorkers, standAt } from '../support/standing.ts';
import {
  answerTo,
  expectWhole,
  handledLines,
  type Line,
  linesOf,
  PIECES,
  PROGRAM,
  textOf,
} from './turn-ordeal.ts';

interface Turn {
  readonly sessionId: string;
  readonly lines: Promise<Line[]>;
}

export function describeTurnDeaths(manner: Manner, points: readonly DeathPoint[]): void {
  describe('a worker that dies during a chat turn', () => {
    let cluster: Cluster;
    const standing = new Map<DeathPoint, Turn>();
    let answered: Awaited<ReturnType<typeof answerByClosure>>;

    beforeAll(async () => {
      cluster = await startCluster({
        program: PROGRAM,
        script: () => says(answerTo('turn-0'), { chunks: PIECES }),
      });
      await cluster.keep(1);
      if (manner === 'together')
        for (const point of points) standing.set(point, await standAt(cluster, point, async () => take()));
      answered = await answerByClosure();
    }, PATIENCE[0]);
    afterAll(() => cluster?.close());

    const boxOf = () => clientBox(cluster.client, { agent: 'helper' });
    const identityOf = (sessionId: string) => ({ tenantId: 'acme', userId: 'ada', sessionId, turnIndex: 0 });
    const read = (sessionId: string) =>
      collect(handledLines(boxOf(), { identity: identityOf(sessionId), message: 'turn-0' }));

    function take(): Turn {
      const sessionId = randomUUID();
      return { sessionId, lines: read(sessionId) };
    }

    async function dieAt(point: DeathPoint): Promise<Turn> {
      cluster.orderDeath(point);
      const turn = take();
      await cluster.died(point);
      await cluster.keep(1);
      return turn;
    }

    /** Answers a turn during which all workers die, and before whose last line their successors die. */
    async function answerByClosure() {
      const sessionId = randomUUID();
      const told = Array.from({ length: PIECES }, (_, n) => ({ type: 'piece', data: { n } }));
      let ran = 0;
      async function* stream() {
        for (const [n, line] of told.entries()) {
          // No worker runs for some of the lines, and for the last one.
          if (n === 4 || n === PIECES - 1) await killWorkers(cluster);
          if (n === 8) {
            await cluster.keep(1);
            // The turns at their places must see one death and no other.
            await Promise.all([...standing.values()].map(({ lines }) => lines));
          }
          yield line;
        }
      }
      const hooks = {
        produce() {
          ran += 1;
          return { stream: stream(), finalText: () => 'all of it' };
        },
      };
      const turn = { box: boxOf(), identity: identityOf(sessionId), message: 'go', hooks };
      const say = () => collect(linesOf(handleChatTurn(turn).body));
      const reading = say();
      await eventually('its last line', async () =>
        (await cluster.store.events.read(sessionId, 0)).some(({ type }) => type === 'produced.ended'),
      );
      cluster.orderDeath('execution_ending');
      await cluster.keep(1);
      await cluster.died('execution_ending');
      await cluster.keep(1);
      const lines = await reading;
      return { sessionId, told, lines, again: await say(), ran };
    }

    it.each(points)(
      '[TG-20] at %s: one execution, one stored message, and a complete stream',
      async (point) => {
        const { sessionId, lines: reading } = standing.get(point) ?? (await dieAt(point));
        const lines = await reading;
        expect(lines.at(-1)?.type).toBe('session.run.completed');
        expect(textOf(lines)).toBe(answerTo('turn-0'));
        expect(await read(sessionId)).toEqual(lines);
        await expectWhole(cluster, sessionId, 1);
      },
      PATIENCE[0],
    );

    it('[TG-20] while a closure of another process answers: it runs once, and its lines arrive complete and in order', async () => {
      const { sessionId, told, lines, again, ran } = answered;
      expect(lines.map(({ type, data }) => ({ type, data })).slice(1, -1)).toEqual(told);
      expect(lines.at(-1)?.type).toBe('session.run.completed');
      expect(again).toEqual(lines);
      expect(ran).toBe(1);
      expect(await cluster.transcript(sessionId)).toEqual(['user: go', 'assistant: all of it']);
    });
  });
}
