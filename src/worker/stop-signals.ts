/** SIGTERM and SIGINT for the workers of a process: one listener for all, as a program may run dozens of them. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const STOPS = new Set<() => void>();

function stopAll(): void {
  for (const stop of STOPS) stop();
}

/** Returns what ends the listening. */
export function onStopSignal(stop: () => void): () => void {
  if (STOPS.size === 0) for (const signal of SIGNALS) process.on(signal, stopAll);
  STOPS.add(stop);
  return () => {
    STOPS.delete(stop);
    if (STOPS.size === 0) for (const signal of SIGNALS) process.off(signal, stopAll);
  };
}
