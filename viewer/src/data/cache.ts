/** Least recently used entries go when all together exceed a number of bytes. */
export class ByteCache<T> {
  private readonly entries = new Map<string, { value: T; bytes: number }>();
  private total = 0;

  constructor(private readonly limit: number) {}

  get bytes(): number {
    return this.total;
  }
  get size(): number {
    return this.entries.size;
  }
  has(key: string): boolean {
    return this.entries.has(key);
  }
  get(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry); // a Map keeps the order of insertion
    return entry.value;
  }
  set(key: string, value: T, bytes: number): void {
    this.remove(key);
    this.entries.set(key, { value, bytes });
    this.total += bytes;
    for (const oldest of this.entries.keys()) {
      // The newest stays even when it alone is larger than the limit.
      if (this.total <= this.limit || oldest === key) break;
      this.remove(oldest);
    }
  }
  clear(): void {
    this.entries.clear();
    this.total = 0;
  }
  private remove(key: string): void {
    this.total -= this.entries.get(key)?.bytes ?? 0;
    this.entries.delete(key);
  }
}
