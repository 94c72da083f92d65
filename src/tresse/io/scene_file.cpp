namespace tresse {}
