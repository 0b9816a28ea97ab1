/** The process of a peer: `child.ts MODULE OPTIONS`, both from the driver, which asks over IPC. */
import type { Peer, PeerOptions } from './peer.ts';

const [module = '', json = '{}'] = process.argv.slice(2);
process.on('disconnect', () => process.exit());
const tell = (message: object) => process.send?.(message, () => undefined);
const { start } = (await import(module)) as { start(options: PeerOptions): Promise<Peer> };
const peer = await start({
  ...JSON.parse(json),
  fail: (thread: string, error: unknown) => tell({ failed: thread, error: textOf(error) }),
});

const ASKED = {
  ...peer,
  async usage() {
    const { user, system } = process.cpuUsage();
    // Kilobytes, the most since the start.
    return { cpuMs: (user + system) / 1000, rssMb: process.resourceUsage().maxRSS / 1024 };
  },
};

process.on('message', async ({ id, ask, args }: { id: number; ask: keyof typeof ASKED; args: never[] }) => {
  try {
    const asked = ASKED[ask] as (...given: never[]) => Promise<unknown>;
    tell({ id, answer: await asked(...args) });
  } catch (error) {
    tell({ id, error: textOf(error) });
  }
});
// A run that fails somewhere in a runtime's background is told, and is no reason to end the process.
process.on('unhandledRejection', (error) => tell({ failed: '', error: textOf(error) }));
tell({ ready: true, can: Object.keys(peer) });

function textOf(error: unknown): string {
  return error instanceof Error
    ? `${error.message}${error.cause ? `: ${textOf(error.cause)}` : ''}`
    : String(error);
}
