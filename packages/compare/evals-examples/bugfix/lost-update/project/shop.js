/** A shop whose stock is in a store with asynchronous `get` and `set`. */
export class Shop {
  constructor(store) {
    this.store = store;
  }

  /** Takes some pieces of an article from the stock; returns false if there are not enough. */
  async order(article, pieces) {
    const stock = await this.store.get(article);
    if (stock < pieces) return false;
    await this.store.set(article, stock - pieces);
    return true;
  }
}
